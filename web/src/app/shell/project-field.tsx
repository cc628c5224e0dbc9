import { useState } from 'react';
import { SelectField } from '../../ui/forms/field';
import { useScope } from '../scope';

/** In which project something is created: the chosen one, or one that the form asks for. */
export const useTargetProject = () => {
  const { project, projects } = useScope();
  const [asked, setAsked] = useState(projects.find((p) => p.role !== 'viewer')?.id ?? '');
  const id = project?.id ?? asked;
  return {
    id,
    query: id === '' ? {} : { project: id },
    field: project === null && projects.length > 1 ? <ProjectField value={asked} onChange={setAsked} /> : null,
  };
};

function ProjectField({ value, onChange }: { value: string; onChange: (id: string) => void }) {
  const { projects } = useScope();
  return (
    <SelectField label="Project" value={value} onChange={(event) => onChange(event.target.value)}>
      {projects.map((p) => (
        <option key={p.id} value={p.id} disabled={p.role === 'viewer'}>
          {p.name}
        </option>
      ))}
    </SelectField>
  );
}
