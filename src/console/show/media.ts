import { useLayoutEffect, useState } from 'preact/hooks';

/** Whether a media query matches, now and after changes. */
export function useMedia(query: string): boolean {
  const [list] = useState(() => matchMedia(query));
  const [matches, setMatches] = useState(list.matches);
  useLayoutEffect(() => {
    const onChange = () => setMatches(list.matches);
    list.addEventListener('change', onChange);
    return () => list.removeEventListener('change', onChange);
  }, [list]);
  return matches;
}
