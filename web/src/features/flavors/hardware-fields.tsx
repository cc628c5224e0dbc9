import { pageSizeNames } from '../../../../src/modules/host/contract/page-sizes';
import type { FieldProps } from '../../lib/use-form';
import { Checkbox, SelectField, TextField } from '../../ui/forms/field';
import type { HardwareDraft } from './hardware-form';

/** What memory and vCPUs are. */
export function HardwareFields({
  draft,
  change,
  cpuModel,
  numaNodes,
}: {
  draft: HardwareDraft;
  change: (part: Partial<HardwareDraft>) => void;
  cpuModel: FieldProps;
  numaNodes: FieldProps;
}) {
  return (
    <>
      <div className="grid grid-cols-2 gap-3">
        <SelectField
          label="Huge pages"
          optional
          value={draft.pageSize}
          onChange={(event) => change({ pageSize: event.target.value as HardwareDraft['pageSize'] })}
          hint="Its memory consists of those that a host keeps."
        >
          <option value="">None</option>
          {pageSizeNames.map((size) => (
            <option key={size} value={size}>
              {size}
            </option>
          ))}
        </SelectField>
        <TextField
          label="CPU model"
          optional
          {...cpuModel}
          placeholder="EPYC-Rome"
          hint="As QEMU calls it. Empty: all that the host can give."
        />
      </div>
      <Checkbox
        label="Shared memory"
        checked={draft.sharedMemory}
        onChange={(event) => change({ sharedMemory: event.target.checked })}
        hint="Processes beside the virtual machine monitor can be given the memory of the guest."
      />
      <Checkbox
        label="Dedicated CPUs"
        checked={draft.dedicatedCpus}
        onChange={(event) => change({ dedicatedCpus: event.target.checked })}
        hint="Each vCPU has a CPU of a host for itself."
      />
      <TextField
        label="NUMA nodes"
        optional
        inputMode="numeric"
        {...numaNodes}
        hint="The guest sees so many, on as many of its host. With dedicated CPUs only."
      />
    </>
  );
}
