import { useEffect, useRef, useState } from 'preact/hooks';
import { lazy } from '../../show/lazy.tsx';
import type { RequestProps } from './loaded-request.tsx';

const TITLE = <h2 id="request-title">The request behind this chart</h2>;

const LoadedRequest = lazy(
  async () => (await import('./loaded-request.tsx')).LoadedRequest,
  () => TITLE,
);

/** Within this distance from the visible part of the page, the request is loaded. */
const NEAR = '300px';

/** The exact request behind what is shown. It stands far below the chart, so its code is loaded when the reader comes near. */
export function RequestCard(props: RequestProps) {
  const card = useRef<HTMLElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => entries.some(({ isIntersecting }) => isIntersecting) && setNear(true),
      { rootMargin: NEAR },
    );
    observer.observe(card.current!);
    return () => observer.disconnect();
  }, []);
  return (
    <section class="card" ref={card} aria-labelledby="request-title">
      {isNear ? <LoadedRequest {...props} title={TITLE} /> : TITLE}
    </section>
  );
}
