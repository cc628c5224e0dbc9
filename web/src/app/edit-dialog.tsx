import { useState, type FormEvent } from 'react';
import type { BodyOf, PathOf, PathWith } from '../../../src/rest/rest-call';
import { api } from '../lib/api';
import { vcctl, type Options } from '../lib/command';
import { fieldErrors } from '../lib/problem';
import { useWrite } from '../lib/queries';
import { Button } from '../ui/button';
import { CommandLine } from '../ui/command-line';
import { Dialog, DialogActions } from '../ui/dialogs/dialog';
import { Checkbox, TextArea, TextField } from '../ui/forms/field';
import { FormProblem } from '../ui/forms/form-problem';
import { toast } from '../ui/feedback/toast';

/** One thing that can be changed: its name in the API, what it is, and how it is checked and sent. */
export interface EditField<Key extends string = string> {
  key: Key;
  label: string;
  value: string;
  optional?: boolean;
  hint?: string;
  /** Of several lines, as programs read it. */
  long?: boolean;
  /** Its option of `vcctl … edit`; the key when missing. */
  option?: string;
  /** What the option is given, where that is not the text itself: the name of a file that has it. */
  optionValue?: (text: string) => string | string[];
  /** A box: `yes` when it is ticked, else `no`. */
  box?: boolean;
  check?: (text: string) => string | null;
  /** What is sent for the text; the text itself when missing. */
  parse?: (text: string) => unknown;
}

/** What can be changed, by id. */
type EditPath = {
  [P in PathWith<'patch'>]: PathOf<'patch', P> extends { ref: string } ? P : never;
}[PathWith<'patch'>];

interface Props<P extends EditPath> {
  noun: string;
  path: P;
  item: { id: string; name: string } | null;
  /** Members of the operation's body. */
  fields: readonly EditField<Extract<keyof BodyOf<'patch', P>, string>>[];
  onClose: () => void;
  touches?: readonly string[];
}

/** Changes a thing: only what differs is sent. */
export function EditDialog<P extends EditPath>({ item, onClose, noun, path, fields, touches = [] }: Props<P>) {
  return (
    <Dialog open={item !== null} onClose={onClose} title={`Edit ${noun}`}>
      {item !== null && <Form key={item.id} {...{ item, noun, path, fields, onClose, touches }} />}
    </Dialog>
  );
}

interface FormProps {
  noun: string;
  path: EditPath;
  item: { id: string; name: string };
  fields: readonly EditField[];
  onClose: () => void;
  touches: readonly string[];
}

function Form({ noun, path, item, fields, onClose, touches }: FormProps) {
  const [texts, setTexts] = useState<Record<string, string>>(() =>
    Object.fromEntries(fields.map((f) => [f.key, f.value])),
  );
  const [tried, setTried] = useState(false);
  const textOf = (field: EditField): string => texts[field.key] ?? field.value;
  const sent = (field: EditField): unknown => (field.parse === undefined ? textOf(field) : field.parse(textOf(field)));
  const wrong = (field: EditField): string | null => field.check?.(textOf(field)) ?? null;
  const changed = fields.filter((field) => textOf(field) !== field.value);
  const write = useWrite((body: Record<string, unknown>) => api.patch(path, { path: { ref: item.id }, body }), {
    touches: [path.split('/')[1] ?? '', ...touches],
    onDone: () => {
      toast.ok(`${noun.charAt(0).toUpperCase()}${noun.slice(1)} ${texts['name'] ?? item.name} changed`);
      onClose();
    },
  });
  const refused = fieldErrors(write.error);
  const problem = (field: EditField): string | null => (tried ? wrong(field) : null) ?? refused[field.key] ?? null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (write.isPending || changed.length === 0 || fields.some((field) => wrong(field) !== null)) return;
    write.mutate(Object.fromEntries(changed.map((field) => [field.key, sent(field)])));
  };
  const words = [noun.replaceAll(' ', '-').toLowerCase()];
  const others = changed.filter((field) => field.key !== 'name');
  const optionOf = (field: EditField): string[] => {
    const told = field.optionValue?.(textOf(field)) ?? sent(field);
    // In a list also an emptied text is shown: it is what takes the old one away.
    return Array.isArray(told) ? (told as string[]) : [typeof told === 'string' ? told : textOf(field)];
  };
  const options: Options = Object.fromEntries(others.map((field) => [field.option ?? field.key, optionOf(field)]));
  const lines = [
    ...(others.length > 0 ? [vcctl([...words, 'edit', item.name], options)] : []),
    ...(changed.length > others.length ? [vcctl([...words, 'rename', item.name, texts['name'] ?? ''])] : []),
  ];
  return (
    <form onSubmit={submit} noValidate className="space-y-4">
      {fields.map((field, n) => {
        const common = {
          label: field.label,
          value: textOf(field),
          error: problem(field),
          ...(field.optional === true ? { optional: true } : {}),
          ...(field.hint === undefined ? {} : { hint: field.hint }),
        };
        const onChange = (event: { target: { value: string } }): void =>
          setTexts({ ...texts, [field.key]: event.target.value });
        if (field.box === true)
          return (
            <Checkbox
              key={field.key}
              label={field.label}
              checked={textOf(field) === 'yes'}
              onChange={(event) => setTexts({ ...texts, [field.key]: event.target.checked ? 'yes' : 'no' })}
              {...(field.hint === undefined ? {} : { hint: field.hint })}
            />
          );
        return field.long === true ? (
          <TextArea key={field.key} mono rows={5} spellCheck={false} onChange={onChange} {...common} />
        ) : (
          <TextField key={field.key} autoFocus={n === 0} onChange={onChange} {...common} />
        );
      })}
      <FormProblem error={write.error} fields={fields.map((field) => field.key)} />
      {lines.length > 0 && <CommandLine line={lines.join(' && ')} />}
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button
          type="submit"
          look="primary"
          busy={write.isPending}
          reason={changed.length === 0 ? 'Nothing is changed yet.' : null}
        >
          Save
        </Button>
      </DialogActions>
    </form>
  );
}
