import { Link } from 'react-router';
import type { Column } from '../../ui/lists/list-page';
import { useScope } from '../scope';

/** Where the things of all projects stand in one list: whose each is. Nothing while one project is chosen. */
export const useProjectColumn = <T extends { projectId: string | null }>(): Column<T>[] => {
  const { project, projectName } = useScope();
  if (project !== null) return [];
  return [
    {
      head: 'Project',
      from: 'md',
      className: 'max-w-36 text-dim',
      cell: ({ projectId }) =>
        projectId === null ? (
          '–'
        ) : (
          <Link
            to={`/projects/${projectId}`}
            title={projectName(projectId)}
            className="block truncate rounded hover:text-ink hover:underline"
          >
            {projectName(projectId)}
          </Link>
        ),
    },
  ];
};
