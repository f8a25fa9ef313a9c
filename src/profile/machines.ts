// Which machine a file is of. Profilers number agents from 0 on every machine, so two machines have the same keys: agents that contradict
// those of the files before belong to a machine of their own.

/** An agent as a file describes it. */
export interface AgentFacts {
  /** As dispatches of the file refer to it: `Agent 4`. */
  readonly key: string;
  readonly isGpu: boolean;
  readonly name: string | undefined;
  readonly arch: string | undefined;
  readonly cuCount: number | undefined;
  readonly simdPerCu: number | undefined;
  readonly xccCount: number | undefined;
  readonly wavesPerCu: number | undefined;
  readonly maxClockMhz: number | undefined;
  /** What else rows may call it: rocprofv3 numbers agents in three ways (`--agent-index`). */
  readonly aliases?: readonly string[];
}

interface Machine {
  readonly label: string;
  /** Its name, where a file tells it. */
  host: string | undefined;
  readonly agents: Map<string, AgentFacts>;
}

/** What became of the agents of a file. */
export interface Placement {
  readonly machine: number;
  /** When a machine was added: the first agent that contradicts, here and there. */
  readonly clash: readonly [AgentFacts, AgentFacts] | undefined;
  /** When a machine was added because of its name: the name here and there. */
  readonly hosts: readonly [string, string] | undefined;
}

/** The machines of a recording, in the order in which they were met. */
export class Machines {
  private readonly list: Machine[] = [];
  private readonly folders = new Map<string, number>();
  /** Folders that are of a machine or run of their own, and its name. */
  private readonly owned = new Map<string, string>();

  /** Makes a folder one of the machine or run `name`, whatever its agents are. */
  own(folder: string, name: string): void {
    this.owned.set(folder, name);
    this.place(folder, name, []);
  }

  isOfOwn(folder: string): boolean {
    return this.owned.has(folder);
  }

  /** The name of a machine or run that was made so. */
  nameOf(machine: number): string | undefined {
    const { host } = this.list[machine] ?? {};
    return host !== undefined && [...this.owned.values()].includes(host) ? host : undefined;
  }

  /**
   * The machine whose name and agents agree with those of a file; a new one when none does. Files of `folder` without agents are of it too.
   * `host` is undefined where the file does not tell it.
   */
  place(
    folder: string,
    label: string,
    agents: readonly AgentFacts[],
    host: string | undefined = this.owned.get(folder),
  ): Placement {
    let clash: Placement['clash'];
    let hosts: Placement['hosts'];
    for (const [machine, one] of this.list.entries()) {
      const known = one.agents;
      if (host !== undefined && one.host !== undefined && host !== one.host) {
        hosts ??= [host, one.host];
        continue;
      }
      const found = firstClash(known, agents);
      clash ??= found;
      if (found !== undefined) continue;
      one.host ??= host;
      for (const agent of agents) if (!known.has(agent.key)) known.set(agent.key, agent);
      if (!this.folders.has(folder)) this.folders.set(folder, machine);
      return { machine, clash: undefined, hosts: undefined };
    }
    const machine = this.list.length;
    const name = host ?? label;
    const isTaken = this.list.some((one) => one.label === name);
    const agentsOf = new Map(agents.map((agent) => [agent.key, agent]));
    this.list.push({ label: isTaken ? `${name} (${machine + 1})` : name, host, agents: agentsOf });
    if (!this.folders.has(folder)) this.folders.set(folder, machine);
    return { machine, clash, hosts };
  }

  /** The machine of a folder: its own agents', or those of the folder above; the first one when nothing tells. */
  ofFolder(folder: string): number {
    for (let at = folder; at !== ''; at = at.includes('/') ? at.slice(0, at.lastIndexOf('/')) : '') {
      const machine = this.folders.get(at);
      if (machine !== undefined) return machine;
    }
    return this.folders.get('') ?? 0;
  }

  /** The key of an agent in the recording: that of the file on the first machine. */
  agentKey(machine: number, key: string): string {
    const own = this.ownKey(this.list[machine], key);
    return machine === 0 ? own : `${own} of ${this.list[machine].label}`;
  }

  /** The key under which an agent is described, where rows call it otherwise. */
  private ownKey(machine: Machine | undefined, key: string): string {
    if (machine === undefined || key === '' || machine.agents.has(key)) return key;
    for (const agent of machine.agents.values()) if (agent.aliases?.includes(key)) return agent.key;
    return key;
  }
}

function firstClash(
  known: ReadonlyMap<string, AgentFacts>,
  agents: readonly AgentFacts[],
): readonly [AgentFacts, AgentFacts] | undefined {
  for (const agent of agents) {
    const other = known.get(agent.key);
    if (other === undefined) continue;
    const differs = (['isGpu', 'arch', 'cuCount', 'xccCount', 'maxClockMhz'] as const).some(
      (field) => agent[field] !== undefined && other[field] !== undefined && agent[field] !== other[field],
    );
    if (differs) return [agent, other];
  }
  return undefined;
}
