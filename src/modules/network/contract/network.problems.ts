import { askOperator, type HintTable } from '../../../core/errors/problem-hints';

/** What to do about failures of networks on hosts, by code. */
export const networkProblems: HintTable = {
  port_failed: {
    user: askOperator,
    operator: "Read the agent's log on the host: the network there could not be set up as asked.",
  },
  port_not_active: {
    user: askOperator,
    operator: "Read the agent's log on the host: the network there could not be set up as asked.",
  },
  port_not_applied: {
    user: 'Try again.',
    operator: "Read the agent's log on the host: it has not applied its newest networks.",
  },
  network_failed: { user: askOperator, operator: "Read the agent's log on the host, and run vc-stack doctor there." },
};
