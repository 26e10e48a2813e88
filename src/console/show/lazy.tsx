import type { ComponentType, VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadModule } from '../api/load-module.ts';
import { Failure, Loading } from './parts.tsx';

/** A component whose code is loaded when it is first shown. Until then, another one is shown. */
export function lazy<P extends object>(
  load: () => Promise<ComponentType<P>>,
  Pending: () => VNode | null = Opening,
): (props: P) => VNode {
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
    return <Pending />;
  };
}

function Opening() {
  return <Loading label="Opening the page" lines={8} />;
}
