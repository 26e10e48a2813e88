import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useTheme } from '../show/theme.tsx';
import { type Plot, PriceDrawing } from './drawing.ts';

/** What the pointer and the view say about a chart. */
export interface ChartCursor {
  /** The day under the pointer. */
  hovered: string | undefined;
  /** The first day in view, from which percentages count. */
  firstVisible: string | undefined;
}

const PAN = 0.1;
const ZOOM = 0.8;

/**
 * A chart of prices. The mouse wheel scrolls the page until the chart has the focus; then it zooms, as do + and −, and the arrow
 * keys move the view. The library is loaded with the first chart.
 */
export function PriceChart({
  plot,
  shownFrom,
  historyId,
  label,
  onCursor,
  onOlder,
  onDrawing,
}: {
  plot: Plot;
  /** The first day to show. */
  shownFrom: string;
  /** Identifies the data; a change resets the view. */
  historyId: string;
  label: string;
  onCursor: (cursor: ChartCursor) => void;
  /** The view has reached the oldest bar. */
  onOlder: () => void;
  onDrawing: (drawing: PriceDrawing | undefined) => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const [drawing, setDrawing] = useState<PriceDrawing>();
  const theme = useTheme();
  const events = useRef({ onCursor, onOlder, onDrawing });
  events.current = { onCursor, onOlder, onDrawing };
  const cursor = useRef<ChartCursor>({ hovered: undefined, firstVisible: undefined });
  useEffect(() => {
    let own: PriceDrawing | undefined;
    let isGone = false;
    const tell = (change: Partial<ChartCursor>) => {
      cursor.current = { ...cursor.current, ...change };
      events.current.onCursor(cursor.current);
    };
    void PriceDrawing.open(box.current!, {
      onHover: (hovered) => tell({ hovered }),
      onMove(firstVisible, isAtStart) {
        if (firstVisible !== cursor.current.firstVisible) tell({ firstVisible });
        if (isAtStart && isTouched.current) events.current.onOlder();
      },
    }).then((opened) => {
      own = opened;
      if (isGone) return opened.remove();
      opened.setWheel(document.activeElement === box.current);
      setDrawing(opened);
      events.current.onDrawing(opened);
    });
    return () => {
      isGone = true;
      own?.remove();
      events.current.onDrawing(undefined);
    };
  }, []);
  /** Only a person who moves the chart asks for older bars. */
  const isTouched = useRef(false);
  useEffect(() => drawing?.show(plot), [drawing, plot, theme]);
  const hasBars = plot.times.length > 0;
  useEffect(() => {
    isTouched.current = false;
    if (hasBars) drawing?.showFrom(shownFrom);
  }, [drawing, shownFrom, historyId, hasBars]);
  const onKey = useMemo(() => keysOf(drawing), [drawing]);
  const touch = () => {
    isTouched.current = true;
  };
  return (
    <div
      class="chart-box"
      ref={box}
      role="application"
      aria-roledescription="chart"
      aria-label={`${label} Arrow keys move the view, plus and minus zoom.`}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: an application is interactive
      tabIndex={0}
      onFocus={() => drawing?.setWheel(true)}
      onBlur={() => drawing?.setWheel(false)}
      onPointerDown={(event) => {
        touch();
        event.currentTarget.focus({ preventScroll: true });
      }}
      onWheel={touch}
      onKeyDown={(event) => {
        const act = onKey[event.key];
        if (!act) return;
        event.preventDefault();
        touch();
        act();
      }}
    />
  );
}

function keysOf(drawing: PriceDrawing | undefined): Readonly<Record<string, () => void>> {
  const zoomIn = () => drawing?.zoom(ZOOM);
  const zoomOut = () => drawing?.zoom(1 / ZOOM);
  return {
    ArrowLeft: () => drawing?.pan(-PAN),
    ArrowRight: () => drawing?.pan(PAN),
    '+': zoomIn,
    '=': zoomIn,
    '-': zoomOut,
  };
}
