// Which engine runs a launch.
import { Interpreter } from '../interpreter/interpreter.ts';
import { CompiledEngine } from '../wasm/engine.ts';
import type { Engine, EngineJob } from './engine.ts';

/** The engine that a launch asks for. */
export function createEngine(job: EngineJob): Engine {
  return job.launch.engine === 'compiled' ? new CompiledEngine(job) : new Interpreter(job.loaded);
}
