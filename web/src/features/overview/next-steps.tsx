import { ArrowRight, Check } from 'lucide-react';
import { Link } from 'react-router';
import { Card } from '../../ui/page';

export interface NextStep {
  done: boolean;
  title: string;
  text: string;
  to?: string;
}

/** On an empty cloud: what to do, in order, until the first instance runs. */
export function NextSteps({ steps }: { steps: NextStep[] }) {
  const next = steps.find((s) => !s.done);
  return (
    <Card title="From nothing to a running instance" className="mb-5">
      <ol className="divide-y divide-line">
        {steps.map((step, index) => (
          <li key={step.title} className="flex items-center gap-3.5 px-4 py-2.5 text-sm">
            <span
              aria-hidden
              className={`nums grid size-6 shrink-0 place-items-center rounded-full text-xs font-medium ${step.done ? 'bg-ok-soft text-ok' : step === next ? 'bg-accent text-accent-ink' : 'bg-idle-soft text-dim'}`}
            >
              {step.done ? <Check className="size-3.5" /> : index + 1}
            </span>
            <div className="min-w-0 flex-1">
              <span className={step.done ? 'text-dim' : 'font-medium'}>
                {step.title}
                {step.done && <span className="sr-only"> (done)</span>}
              </span>
              {!step.done && <span className="block text-xs text-dim">{step.text}</span>}
            </div>
            {!step.done && step.to !== undefined && (
              <Link
                to={step.to}
                aria-label={step.title}
                className={`inline-flex h-7 shrink-0 items-center gap-1 rounded-md px-2 text-sm font-medium ${step === next ? 'bg-accent text-accent-ink hover:bg-accent-hover' : 'text-accent-text hover:bg-sunken'}`}
              >
                {step === next ? 'Start' : 'Go'}
                <ArrowRight aria-hidden className="size-3.5" />
              </Link>
            )}
          </li>
        ))}
      </ol>
    </Card>
  );
}
