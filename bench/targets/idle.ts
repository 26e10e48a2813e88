/** A process that does nothing but watch its event loop. Each line on stdin is answered with its longest pause since the last one, in ms. */
import { LoopMonitor } from '../../src/runtime/metrics/loop-monitor.ts';

const loop = new LoopMonitor();
loop.start();
console.log('watching');
for await (const _ of console) console.log(loop.takeLagMsMax());
