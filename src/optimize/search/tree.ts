// Monte-Carlo tree search over sequences of moves: a node is the code behind some moves. From the root the way goes to the child with the highest upper
// bound (UCT); a node gets a child for each of its moves in turn; then moves that are drawn are made on top (the rollout), and what the fastest code on the
// way gained is told to all nodes above. What is drawn depends on the seed alone.
import { randomNumbers } from '../../base/index.ts';
import { isApart, type Move } from '../moves/view.ts';
import type { State, Surroundings, Tried } from './state.ts';

/** Weight of what was seldom tried. Gains are measured in parts of the best known one, so √2 is the ordinary choice (Kocsis and Szepesvári, 2006). */
const EXPLORATION = Math.SQRT2;
/** Moves on top of a new node. */
const ROLLOUT = 2;

interface Node {
  readonly parent: Node | undefined;
  /** Code behind the moves; a node whose code is not faster, or wrong, has none and is not gone on from. */
  readonly state: State;
  /** Moves that have no child yet, the most promising first. */
  moves: readonly Move[] | undefined;
  readonly children: Node[];
  visits: number;
  /** Sum of gains of what was found below, as parts of the start's time. */
  gain: number;
}

/** Grows the tree until the budget is used up or nothing is left to try. Gives the fastest state that climbed the ladder. */
export async function growTree(search: Surroundings, start: State, seed: number): Promise<State> {
  const random = randomNumbers(seed);
  const node = (state: State, parent: Node | undefined): Node => ({
    parent,
    state,
    moves: undefined,
    children: [],
    visits: 0,
    gain: 0,
  });
  const root = node(start, undefined);
  let best = start;
  const gainOf = (nanoseconds: number): number => 1 - nanoseconds / start.nanoseconds;
  const learn = (from: Node | undefined, gain: number): void => {
    for (let at = from; at !== undefined; at = at.parent) {
      at.visits++;
      at.gain += gain;
    }
  };
  while (!search.isSpent) {
    const leaf = choose(search, root, gainOf(best.nanoseconds));
    if (leaf === undefined) break;
    const move = (leaf.moves as readonly Move[])[0] as Move;
    leaf.moves = (leaf.moves as readonly Move[]).slice(1);
    const [found] = await search.look(leaf.state, search.movesAt(leaf.state).view, [[move]], best);
    const [grown] = found === undefined ? [] : await search.keep([found], 1);
    if (grown === undefined) {
      learn(leaf, gainOf(leaf.state.nanoseconds));
      continue;
    }
    const child = node(grown, leaf);
    leaf.children.push(child);
    if (grown.nanoseconds < best.nanoseconds) best = grown;
    const rolled = await rollout(search, grown, best, random);
    const [kept] = rolled === undefined || rolled.nanoseconds >= best.nanoseconds ? [] : await search.keep([rolled], 1);
    if (kept !== undefined) {
      best = kept;
      child.children.push(node(kept, child));
    }
    learn(child, gainOf((kept ?? grown).nanoseconds));
  }
  return best;
}

/** The node that gets the next child: down by the highest upper bound, to the first that has moves left and no better child. */
function choose(search: Surroundings, root: Node, bestGain: number): Node | undefined {
  const open = (node: Node): boolean => movesOf(search, node).length > 0 || node.children.some(open);
  if (!open(root)) return undefined;
  const scale = Math.max(bestGain, Number.EPSILON);
  const bound = (node: Node, visits: number): number =>
    node.visits === 0
      ? Number.POSITIVE_INFINITY
      : node.gain / node.visits / scale + EXPLORATION * Math.sqrt(Math.log(visits + 1) / node.visits);
  let node = root;
  for (;;) {
    const { children, visits } = node;
    const ways = children.filter(open);
    const own = movesOf(search, node).length > 0;
    // Another child of its own counts as what has been tried as often as there are children.
    const ownBound = own
      ? node.gain / Math.max(1, visits) / scale + EXPLORATION * Math.sqrt(Math.log(visits + 1) / (children.length + 1))
      : Number.NEGATIVE_INFINITY;
    const way = ways.reduce<Node | undefined>(
      (a, b) => (a === undefined || bound(b, visits) > bound(a, visits) ? b : a),
      undefined,
    );
    if (way === undefined || (own && ownBound >= bound(way, visits))) return node;
    node = way;
  }
}

function movesOf(search: Surroundings, node: Node): readonly Move[] {
  node.moves ??= search.movesAt(node.state).moves;
  return node.moves;
}

/** Moves that are drawn, all at once on top of a state; undefined when they are not faster. */
async function rollout(
  search: Surroundings,
  state: State,
  best: State,
  random: () => number,
): Promise<Tried | undefined> {
  const { view, moves } = search.movesAt(state);
  const drawn: Move[] = [];
  for (let n = 0; n < ROLLOUT && moves.length > 0; n++) {
    const move = moves[Math.floor(random() * moves.length)] as Move;
    if (drawn.every((other) => isApart(other, move))) drawn.push(move);
  }
  if (drawn.length === 0 || search.isSpent) return undefined;
  const [tried] = await search.look(state, view, [drawn], best);
  return tried;
}
