import type { CallInTurn, CallOptions, CallsInTurn, NodeCaller } from '../../src/core/m2m/management/node-caller';

/** What a node does with several calls of one request. */
export const oneByOne = async (
  node: NodeCaller,
  hostId: string,
  calls: readonly CallInTurn[],
  options: Omit<CallOptions, 'key'>,
): Promise<CallsInTurn> => {
  const outcomes: CallsInTurn['outcomes'] = [];
  for (const { verb, args, key } of calls) {
    try {
      const outcome = await node.call(hostId, verb, args, { ...options, key });
      outcomes.push({ ...outcome, ms: 1 });
      if (!outcome.done) break;
    } catch (error) {
      return { outcomes, error };
    }
  }
  return { outcomes };
};
