import { useCallback, useLayoutEffect, useState } from 'preact/hooks';

/** The current route: the fragment of the URL, so that it can be linked to. */
export interface Route {
  page: string;
  /** What follows, for example the symbol. */
  rest: string;
}

/** The market as it was last shown, with its search and filter. */
let lastMarket = linkTo('market');

export function readRoute(hash: string): Route {
  const [path = ''] = hash.split('?');
  const [page = '', ...rest] = path.replace(/^#\/?/, '').split('/');
  return { page: page || 'market', rest: decode(rest.join('/')) };
}

/** Listens in a layout effect, which runs at once: another effect would miss a change before the first frame. */
export function useRoute(): Route {
  const [route, setRoute] = useState(() => readRoute(location.hash));
  useLayoutEffect(() => {
    const onChange = ({ oldURL }: HashChangeEvent) => {
      const { hash } = new URL(oldURL);
      if (readRoute(hash).page === 'market') lastMarket = hash || linkTo('market');
      setRoute(readRoute(location.hash));
    };
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return route;
}

export function linkTo(page: string, rest = ''): string {
  return `#/${page}${rest === '' ? '' : `/${encodeURIComponent(rest).replaceAll('%2F', '/')}`}`;
}

/** The way back to the market, with the search and filter that it had. */
export function linkToLastMarket(): string {
  return lastMarket;
}

/** A part of the view that is kept in the URL, after a `?` in the fragment. Its default is left out. */
export function useParam(name: string, byDefault: string): [string, (value: string) => void] {
  const [value, setValue] = useState(() => readParams().get(name) ?? byDefault);
  useLayoutEffect(() => {
    const onChange = () => setValue(readParams().get(name) ?? byDefault);
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, [name, byDefault]);
  const change = useCallback(
    (next: string) => {
      writeParams({ [name]: next === byDefault ? undefined : next });
      setValue(next);
    },
    [name, byDefault],
  );
  return [value, change];
}

/** The parameters in the URL. */
export function readParams(): URLSearchParams {
  return new URLSearchParams(location.hash.split('?')[1]);
}

/** Changes parameters in the URL; undefined removes one. */
export function writeParams(changes: Readonly<Record<string, string | undefined>>): void {
  const [path = ''] = (location.hash || linkTo('market')).split('?');
  const params = readParams();
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) params.delete(name);
    else params.set(name, value);
  }
  const query = params.toString().replaceAll('%2C', ',').replaceAll('%7B', '{').replaceAll('%7D', '}');
  history.replaceState(history.state, '', query === '' ? path : `${path}?${query}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
