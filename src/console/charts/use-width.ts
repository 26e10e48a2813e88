import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

/** An element that is hidden, or not laid out yet, has no width. */
const WIDTH_MIN = 240;

/** The width of an element in pixels. Charts are drawn for it instead of scaled, so that labels keep their size. */
export function useWidth<T extends Element>(before: number): [RefObject<T | null>, number] {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(before);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      setWidth(Math.max(WIDTH_MIN, Math.round(entry!.contentRect.width))),
    );
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
