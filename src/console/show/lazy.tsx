import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadModule } from '../api/load-module.ts';
import { Failure, Loading, type Shape } from './parts.tsx';

/** A component whose code is loaded when it is first shown. Until then, its shape or another component is shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  pending: Shape | (() => VNode | null) = 'lines',
): (props: P) => VNode | null {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Found, setFound] = useState(() => loaded);
    const [error, setError] = useState<Error>();
    useEffect(() => {
      if (Found) return;
      void loadModule(load, setError).then((component) => {
        loaded = component;
        setFound(() => component);
      });
    }, []);
    if (Found) return <Found {...props} />;
    if (error) return <Failure error={error} />;
    return typeof pending === 'string' ? <Loading label="Opening the page" shape={pending} /> : pending();
  };
}
