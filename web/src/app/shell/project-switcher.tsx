import { Check, ChevronsUpDown, FolderKanban, Layers } from 'lucide-react';
import { useNavigate } from 'react-router';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../../ui/menu';
import { useScope } from '../scope';

/** Which project's things the console shows. */
export function ProjectSwitcher() {
  const { project, projects, choose } = useScope();
  const navigate = useNavigate();
  const name = project?.name ?? (projects.length === 0 ? 'No project' : 'All projects');
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          aria-label={`Project: ${name}`}
          className="flex h-9 w-full items-center gap-2 rounded-md border border-line bg-raised px-2 text-left text-sm shadow-lift hover:border-line-strong"
        >
          {project === null ? (
            <Layers aria-hidden className="size-4 shrink-0 text-dim" />
          ) : (
            <FolderKanban aria-hidden className="size-4 shrink-0 text-dim" />
          )}
          <span title={name} className="min-w-0 flex-1 truncate font-medium">
            {name}
          </span>
          <ChevronsUpDown aria-hidden className="size-3.5 shrink-0 text-dim" />
        </button>
      }
    >
      <MenuLabel>Show things of</MenuLabel>
      {projects.length > 1 && (
        <MenuItem icon={project === null ? Check : Layers} checked={project === null} onSelect={() => choose(null)}>
          All projects
        </MenuItem>
      )}
      {projects.map((p) => (
        <MenuItem
          key={p.id}
          icon={project?.id === p.id ? Check : FolderKanban}
          checked={project?.id === p.id}
          onSelect={() => choose(p.id)}
        >
          {p.name}
        </MenuItem>
      ))}
      <MenuLine />
      <MenuItem onSelect={() => void navigate('/projects')}>Projects and members</MenuItem>
    </Menu>
  );
}
