// Made by "npm run rest-types" from the OpenAPI document: run it again instead of editing. sha256 5efd20d2e1afc7b1c35bcc38e6d56ebf7bc24ed6e5b9867dae0deb2996dc8611
export interface paths {
  '/api-tokens': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List the caller's API tokens */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['ApiToken'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create an API token; it is shown once */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /** @default null */
            expiresInDays?: number | null;
            name: string;
            /** @default null */
            scopes?: string[] | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['CreatedApiToken'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/api-tokens/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Delete an API token */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/events': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Follow changes as Server-Sent Events */
    get: {
      parameters: {
        query?: {
          /** @description Only events of this project (id or name). */
          project?: string;
          /** @description Resume after this sequence number. The header Last-Event-ID does the same and wins. */
          since?: number;
          /** @description Nouns or whole types, separated by commas: instance,task.updated */
          type?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'text/event-stream': string;
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/events/position': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Where events are now: what is read after this answer contains all events up to it */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              seq: number;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/flavors': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List flavors */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Flavor'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a flavor */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            diskBytes?: number | null;
            hardware?: {
              /** @default null */
              cpuModel?: string | null;
              cpuPolicy?: ('shared' | 'dedicated') | null;
              /** @default null */
              numaNodes?: number | null;
              /**
               * @default null
               * @enum {string|null}
               */
              pageSize?: '2MiB' | '1GiB' | null;
              sharedMemory?: boolean | null;
            } | null;
            limits?: {
              /** @default null */
              disk?: {
                burstSeconds?: number | null;
                /** @default null */
                bytesPerSecond?: number | null;
                /** @default null */
                iops?: number | null;
              } | null;
              /** @default null */
              nic?: {
                burstSeconds?: number | null;
                bytesPerSecond: number;
              } | null;
            } | null;
            memoryBytes: number;
            name: string;
            vcpus: number;
            /** @default null */
            vendorData?: string | null;
            /** @default null */
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Flavor'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/flavors/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a flavor */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Flavor'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a flavor */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name, description or vendor data of a flavor */
    patch: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name?: string | null;
            vendorData?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Flavor'];
          };
        };
      };
    };
    trace?: never;
  };
  '/host-tokens': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List enrolment tokens */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['HostTokenInfo'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Make a token with which one host can join */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            expiresInMinutes?: number | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['HostToken'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/host-tokens/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Withdraw an enrolment token */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/hosts': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List hosts */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
          state?:
            | 'discovered'
            | 'enrolling'
            | 'testing'
            | 'ready'
            | 'unknown'
            | 'degraded'
            | 'draining'
            | 'maintenance'
            | 'failed'
            | 'retired';
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Host'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/hosts/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a host */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['HostDetail'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Remove an empty host */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Put a host into maintenance or take it out */
    patch: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            maintenance?: boolean | null;
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['HostDetail'];
          };
        };
      };
    };
    trace?: never;
  };
  '/hosts/{ref}/actions/remove-leftovers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Remove leftovers of a host, exactly as they were listed */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            leftovers: {
              kind: string;
              mark: string;
              name: string;
            }[];
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              /** Format: uuid */
              taskId: string;
            };
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/hosts/{ref}/actions/test': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Try its virtual machine monitors anew */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              /** Format: uuid */
              taskId: string;
            };
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/hosts/{ref}/leftovers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Look for what lies on a host and belongs to nothing */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['LeftoverList'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/images': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List images, own and public */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Image'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create an image; its bytes come from the URL, or by PUT /images/{ref}/content */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            checksum?: string | null;
            description?: string | null;
            firmware?: ('any' | 'bios' | 'uefi') | null;
            format?: ('raw' | 'qcow2') | null;
            kernel?: {
              commandLine?: string | null;
            } | null;
            name: string;
            public?: boolean | null;
            url?: string | null;
            /** @default null */
            vendorData?: string | null;
            /** @default null */
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/images/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show an image */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete an image; 202 with the task when an import has to end first */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              /** Format: uuid */
              taskId: string;
            };
          };
        };
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name, description, kind of VMM, command line or vendor data of an image */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            kernel?: {
              commandLine: string;
            } | null;
            name?: string | null;
            vendorData?: string | null;
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    trace?: never;
  };
  '/images/{ref}/content': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Upload the bytes of an image, raw or qcow2, as the request body */
    put: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/octet-stream': string;
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/images/{ref}/initramfs': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Upload the initramfs of an image, before its disk */
    put: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/octet-stream': string;
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/images/{ref}/kernel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Upload the kernel of an image, a bzImage or an ELF file, before its disk */
    put: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/octet-stream': string;
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Image'];
          };
        };
      };
    };
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List instances */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          host?: string;
          limit?: number;
          name?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
          sort?: 'name' | '-name' | 'createdAt' | '-createdAt';
          state?:
            | 'building'
            | 'running'
            | 'paused'
            | 'suspended'
            | 'rescued'
            | 'starting'
            | 'stopping'
            | 'rebooting'
            | 'pausing'
            | 'suspending'
            | 'resuming'
            | 'resizing'
            | 'rebuilding'
            | 'rescuing'
            | 'unrescuing'
            | 'stopped'
            | 'deleting'
            | 'unknown'
            | 'error';
          tag?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Instance'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create an instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /**
             * @default null
             * @enum {string|null}
             */
            configDrive?: 'openstack' | 'nocloud' | null;
            description?: string | null;
            flavor: string;
            host?: string | null;
            image: string;
            machine?: {
              balloon?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              panic?: 'restart' | 'stop' | 'notify' | null;
              secureBoot?: boolean | null;
              tpm?: boolean | null;
              vsock?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              watchdog?: 'restart' | 'stop' | 'notify' | null;
            } | null;
            /** @default null */
            maxMemoryBytes?: number | null;
            /** @default null */
            maxVcpus?: number | null;
            metadata?: {
              [key: string]: string;
            } | null;
            name: string;
            networks: {
              /** Format: ip */
              address?: string | null;
              defaultRoute?: boolean | null;
              network: string;
              securityGroups?: string[] | null;
            }[];
            protected?: boolean | null;
            restartPolicy?: ('never' | 'on-failure') | null;
            shares?:
              | {
                  readonly?: boolean | null;
                  share: string;
                }[]
              | null;
            sshKeys?: string[] | null;
            stopGraceSeconds?: number | null;
            tags?: string[] | null;
            /** @default null */
            userData?: string | null;
            /** @default null */
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show an instance */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Instance'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete an instance with its root volume; other volumes stay */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name, description, tags, metadata, protection or the grace period of stops */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            metadata?: {
              [key: string]: string;
            } | null;
            name?: string | null;
            protected?: boolean | null;
            restartPolicy?: ('never' | 'on-failure') | null;
            stopGraceSeconds?: number | null;
            tags?: string[] | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Instance'];
          };
        };
      };
    };
    trace?: never;
  };
  '/instances/{ref}/actions/balloon': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Have its guest keep so much of its memory while it runs; the rest goes to its host */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            memoryBytes: number | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/console': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Open its serial console, or its screen: a one-time ticket */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            protocol?: ('serial' | 'vnc') | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['ConsoleTicket'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/core-dump': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Write what is in its memory into a file on its host; it stands still meanwhile, and goes on */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            format?: ('elf' | 'kdump-zlib') | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['CoreDumpWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/lock': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Lock an instance: all but reads, its console and unlocking is refused */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Instance'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/nmi': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Send a non-maskable interrupt to its guest */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/pause': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Pause an instance: its vCPUs stand still */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/reboot': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Reboot an instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            force?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/rebuild': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Give a stopped instance a new root disk of an image; what the old one holds is lost */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            image?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/rescue': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Boot a stopped instance from a temporary disk of an image, with its own disk as a second one */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            image: string;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/resize': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Give an instance another flavor on its host: a stopped one, or within its maximum one that runs */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            flavor: string;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/resume': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Resume a paused or suspended instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/start': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Start an instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/stop': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Stop an instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            force?: boolean | null;
            graceSeconds?: number | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/suspend': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Suspend an instance: its memory goes to its host’s disk, its VMM ends */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/unlock': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Unlock an instance */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Instance'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/unrescue': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Turn an instance in rescue off, and let it have its own disk alone again */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/actions/vsock': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Open a stream to a port of its guest, without a network: a one-time ticket */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            port: number;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['VsockTicket'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/console-log': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What its guest wrote on the serial console */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
          since?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['ConsoleLog'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/core-dumps': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The core dumps that its host has of it, the newest first */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['CoreDumps'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/core-dumps/{dump}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Delete a core dump */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          dump: string;
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['CoreDumpDeletion'];
          };
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/core-dumps/{dump}/content': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** A core dump itself; with the header Range (bytes=N-) from that byte on */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          dump: string;
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/octet-stream': string;
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/guest-data': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What its guest reads: metadata, network data, user data */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['GuestData'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/memory': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What its guest has of its memory now, and says of it */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceMemory'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/ports': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Attach a port: one network card more, at once while it runs */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /** Format: ip */
            address?: string | null;
            network: string;
            securityGroups?: string[] | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['PortWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/ports/{port}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Detach and delete a port of an instance, once its guest has let the card go */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          port: string;
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/screenshot': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** What its screen shows now: a PNG */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'image/png': string;
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/volumes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Attach a volume: one disk more, at once while it runs */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            readonly?: boolean | null;
            volume: string;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['AttachedVolumeWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/{ref}/volumes/{volume}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Detach a volume of an instance, once its guest has let the disk go; the volume stays */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          volume: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceWithTask'];
          };
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/batch': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Create several instances of a kind, all of them or none */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /**
             * @default null
             * @enum {string|null}
             */
            configDrive?: 'openstack' | 'nocloud' | null;
            count: number;
            description?: string | null;
            flavor: string;
            host?: string | null;
            image: string;
            machine?: {
              balloon?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              panic?: 'restart' | 'stop' | 'notify' | null;
              secureBoot?: boolean | null;
              tpm?: boolean | null;
              vsock?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              watchdog?: 'restart' | 'stop' | 'notify' | null;
            } | null;
            /** @default null */
            maxMemoryBytes?: number | null;
            /** @default null */
            maxVcpus?: number | null;
            metadata?: {
              [key: string]: string;
            } | null;
            name: string;
            networks: {
              /** Format: ip */
              address?: string | null;
              defaultRoute?: boolean | null;
              network: string;
              securityGroups?: string[] | null;
            }[];
            protected?: boolean | null;
            restartPolicy?: ('never' | 'on-failure') | null;
            shares?:
              | {
                  readonly?: boolean | null;
                  share: string;
                }[]
              | null;
            sshKeys?: string[] | null;
            stopGraceSeconds?: number | null;
            tags?: string[] | null;
            /** @default null */
            userData?: string | null;
            /** @default null */
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstancesWithTask'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/instances/check': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Ask whether a create would be accepted now; makes nothing */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /**
             * @default null
             * @enum {string|null}
             */
            configDrive?: 'openstack' | 'nocloud' | null;
            count?: number | null;
            description?: string | null;
            flavor: string;
            host?: string | null;
            image: string;
            machine?: {
              balloon?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              panic?: 'restart' | 'stop' | 'notify' | null;
              secureBoot?: boolean | null;
              tpm?: boolean | null;
              vsock?: boolean | null;
              /**
               * @default null
               * @enum {string|null}
               */
              watchdog?: 'restart' | 'stop' | 'notify' | null;
            } | null;
            /** @default null */
            maxMemoryBytes?: number | null;
            /** @default null */
            maxVcpus?: number | null;
            metadata?: {
              [key: string]: string;
            } | null;
            name: string;
            networks: {
              /** Format: ip */
              address?: string | null;
              defaultRoute?: boolean | null;
              network: string;
              securityGroups?: string[] | null;
            }[];
            protected?: boolean | null;
            restartPolicy?: ('never' | 'on-failure') | null;
            shares?:
              | {
                  readonly?: boolean | null;
                  share: string;
                }[]
              | null;
            sshKeys?: string[] | null;
            stopGraceSeconds?: number | null;
            tags?: string[] | null;
            /** @default null */
            userData?: string | null;
            /** @default null */
            vmm?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['InstanceCheck'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/login': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Log in with name and password */
    post: {
      parameters: {
        query?: never;
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            name: string;
            password: string;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Tokens'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/login/refresh': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Exchange a refresh token for new tokens */
    post: {
      parameters: {
        query?: never;
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            refreshToken: string;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Tokens'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/logout': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** End the session */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/networks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List networks */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          name?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Network'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a network */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            dns?: string[] | null;
            gateway?: string | null;
            name: string;
            nat?: boolean | null;
            subnet?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Network'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/networks/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a network */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Network'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a network */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name or description */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Network'];
          };
        };
      };
    };
    trace?: never;
  };
  '/ports': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List ports */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          instance?: string;
          limit?: number;
          network?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
          securityGroup?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Port'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/ports/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    /** Change the security groups of a port */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            securityGroups?: string[] | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Port'];
          };
        };
      };
    };
    trace?: never;
  };
  '/projects': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List the visible projects by name */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Project'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a project */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name: string;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Project'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/projects/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a project */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Project'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete an empty project */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Rename or describe a project */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Project'];
          };
        };
      };
    };
    trace?: never;
  };
  '/projects/{ref}/members': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List the members of a project */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Member'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/projects/{ref}/members/{userId}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Add a member (by id or name) or change its role */
    put: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          userId: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /** @enum {string} */
            role: 'project-admin' | 'member' | 'viewer';
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Member'];
          };
        };
      };
    };
    post?: never;
    /** Remove a member */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          userId: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/routers': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List routers */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          name?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Router'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a router */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name: string;
            snat?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Router'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/routers/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a router */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Router'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a router */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name, description or the way out */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name?: string | null;
            snat?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Router'];
          };
        };
      };
    };
    trace?: never;
  };
  '/routers/{ref}/subnets/{subnet}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    /** Put a subnet on a router */
    put: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          subnet: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Router'];
          };
        };
      };
    };
    post?: never;
    /** Take a subnet off a router */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          subnet: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Router'];
          };
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/security-group-rules/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Remove a rule; flows that it alone allowed are cut */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/security-groups': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List security groups */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          name?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['SecurityGroup'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a security group, without rules */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name: string;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SecurityGroupWithRules'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/security-groups/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a security group with its rules */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SecurityGroupWithRules'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a security group that nothing uses */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name or description */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            name?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SecurityGroupWithRules'];
          };
        };
      };
    };
    trace?: never;
  };
  '/security-groups/{ref}/rules': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List the rules of a security group */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['SecurityGroupRule'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Add a rule */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            description?: string | null;
            /** @enum {string} */
            direction: 'ingress' | 'egress';
            ethertype?: ('ipv4' | 'ipv6') | null;
            /** @default null */
            icmpCode?: number | null;
            /** @default null */
            icmpType?: number | null;
            /** @default null */
            portMax?: number | null;
            /** @default null */
            portMin?: number | null;
            /** @default null */
            protocol?: string | number | null;
            /** @default null */
            remoteCidr?: string | null;
            /** @default null */
            remoteGroup?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SecurityGroupRule'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/shares': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The directories of hosts that instances of the project can mount */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Share'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/ssh-keys': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List ssh keys */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['SshKey'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Store an ssh public key */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            name: string;
            publicKey: string;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SshKey'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/ssh-keys/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Delete an ssh key */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Rename an ssh key */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            name?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['SshKey'];
          };
        };
      };
    };
    trace?: never;
  };
  '/subnets': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List subnets */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          name?: string;
          network?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Subnet'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Add a subnet to a network */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            /** Format: ipv4-cidr */
            cidr: string;
            dns?: string[] | null;
            gateway?: string | null;
            name: string;
            network: string;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Subnet'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/subnets/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a subnet */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Subnet'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a subnet */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name or DNS servers */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            dns?: string[] | null;
            name?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Subnet'];
          };
        };
      };
    };
    trace?: never;
  };
  '/tasks': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List tasks, newest first */
    get: {
      parameters: {
        query?: {
          createdAfter?: string;
          createdBefore?: string;
          cursor?: string;
          endedAfter?: string;
          endedBefore?: string;
          errors?: 'true' | 'false';
          host?: string;
          limit?: number;
          parent?: string;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
          state?: string | string[];
          subject?: string;
          subjectKind?: string;
          system?: 'true' | 'false';
          type?: string | string[];
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Task'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/tasks/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a task with its steps, at once or when it has settled */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
          wait?: string;
        };
        header?: never;
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['TaskDetail'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/tasks/{id}/actions/abandon': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** End a stuck task as failed, not undone */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['TaskDetail'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/tasks/{id}/actions/cancel': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Stop a task at its next boundary and undo it */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['TaskDetail'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/tasks/{id}/actions/retry': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Undo a stuck task once more */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['TaskDetail'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/tasks/{id}/actions/skip-step': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Count the undo that a stuck task is at as done, and go on */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
        };
        cookie?: never;
      };
      requestBody?: {
        content: {
          'application/json': {
            reason?: string | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['TaskDetail'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List users by name */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['User'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create a user */
    post: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            admin?: boolean | null;
            name: string;
            password: string;
          };
        };
      };
      responses: {
        /** @description Done */
        201: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['User'];
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a user */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['User'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a user */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    /** Set password, admin role, or enable and disable */
    patch: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            admin?: boolean | null;
            enabled?: boolean | null;
            password?: string | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['User'];
          };
        };
      };
    };
    trace?: never;
  };
  '/users/{ref}/api-tokens': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List a user's API tokens */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['ApiToken'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users/{ref}/api-tokens/{token}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** Delete an API token of a user */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
          token: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users/{ref}/sessions': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List a user's open sessions */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          limit?: number;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Session'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** End all sessions of a user */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users/{ref}/sessions/{id}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    post?: never;
    /** End a session of a user */
    delete: {
      parameters: {
        query?: never;
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          id: string;
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/users/me/password': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    get?: never;
    put?: never;
    /** Change the caller's own password */
    post: {
      parameters: {
        query?: never;
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            current: string;
            password: string;
            revokeApiTokens?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Done */
        204: {
          headers: {
            [name: string]: unknown;
          };
          content?: never;
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/volumes': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** List volumes */
    get: {
      parameters: {
        query?: {
          cursor?: string;
          instance?: string;
          limit?: number;
          /** @description Project by id or name. */
          project?: string;
          /** @description Part of a name, or the beginning of an id or of an address. One or two letters are found where a word begins. */
          q?: string;
          role?: 'root' | 'data' | 'rescue';
        };
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              items: components['schemas']['Volume'][];
              next: string | null;
            };
          };
        };
      };
    };
    put?: never;
    /** Create an empty volume */
    post: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path?: never;
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            bytes: number;
            instance?: string | null;
            name: string;
            pool?: string | null;
            protected?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              /** Format: uuid */
              taskId: string;
              volume: components['schemas']['Volume'];
            };
          };
        };
      };
    };
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
  '/volumes/{ref}': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** Show a volume */
    get: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: never;
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Volume'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    /** Delete a volume that no instance has */
    delete: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Accepted; a task goes on */
        202: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': {
              /** Format: uuid */
              taskId: string;
              volume: components['schemas']['Volume'];
            };
          };
        };
      };
    };
    options?: never;
    head?: never;
    /** Change name or protection of a volume */
    patch: {
      parameters: {
        query?: {
          /** @description Project by id or name. */
          project?: string;
        };
        header?: {
          /** @description The same key with the same request gives the first answer again, for 24 hours. */
          'Idempotency-Key'?: string;
        };
        path: {
          ref: string;
        };
        cookie?: never;
      };
      requestBody: {
        content: {
          'application/json': {
            name?: string | null;
            protected?: boolean | null;
          };
        };
      };
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Volume'];
          };
        };
      };
    };
    trace?: never;
  };
  '/whoami': {
    parameters: {
      query?: never;
      header?: never;
      path?: never;
      cookie?: never;
    };
    /** The caller and its projects */
    get: {
      parameters: {
        query?: never;
        header?: never;
        path?: never;
        cookie?: never;
      };
      requestBody?: never;
      responses: {
        /** @description Done */
        200: {
          headers: {
            [name: string]: unknown;
          };
          content: {
            'application/json': components['schemas']['Whoami'];
          };
        };
      };
    };
    put?: never;
    post?: never;
    delete?: never;
    options?: never;
    head?: never;
    patch?: never;
    trace?: never;
  };
}
export type webhooks = Record<string, never>;
export interface components {
  schemas: {
    ApiToken: {
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string | null;
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      lastUsedAt: string | null;
      name: string;
      scopes: string[] | null;
    };
    AttachedVolumeWithTask: {
      instance: components['schemas']['Instance'];
      /** Format: uuid */
      taskId: string;
      /** Format: uuid */
      volumeId: string;
    };
    Condition: {
      message: string;
      reason: string;
      /** Format: date-time */
      since: string;
      /** @enum {string} */
      status: 'true' | 'false' | 'unknown';
      type: string;
    };
    ConsoleLog: {
      cursor: string;
      text: string;
      truncated: boolean;
    };
    ConsoleTicket: {
      expiresIn: number;
      path: string;
      /** @enum {string} */
      protocol: 'serial' | 'vnc';
      ticket: string;
    };
    CoreDump: {
      bytes: number;
      /** Format: date-time */
      createdAt: string;
      format: string;
      /** Format: uuid */
      id: string;
    };
    CoreDumpDeletion: {
      /** Format: uuid */
      taskId: string;
    };
    CoreDumps: {
      items: components['schemas']['CoreDump'][];
    };
    CoreDumpWithTask: {
      /** Format: uuid */
      coreDumpId: string;
      instance: components['schemas']['Instance'];
      /** Format: uuid */
      taskId: string;
    };
    CreatedApiToken: {
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string | null;
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      lastUsedAt: string | null;
      name: string;
      scopes: string[] | null;
      token: string;
    };
    Flavor: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      diskBytes: number;
      hardware: {
        cpuModel: string | null;
        /** @enum {string} */
        cpuPolicy: 'shared' | 'dedicated';
        numaNodes: number | null;
        pageSize: string | null;
        sharedMemory: boolean;
      };
      /** Format: uuid */
      id: string;
      limits: {
        disk: {
          burstSeconds: number;
          bytesPerSecond: number | null;
          iops: number | null;
        } | null;
        nic: {
          burstSeconds: number;
          bytesPerSecond: number;
        } | null;
      };
      memoryBytes: number;
      name: string;
      vcpus: number;
      vendorData: string | null;
      vmm: string | null;
    };
    GuestData: {
      files: {
        bytes: number;
        path: string;
        text: string | null;
      }[];
      hostname: string;
    };
    Host: {
      address: string;
      /** @enum {string} */
      breaker: 'closed' | 'open' | 'half-open';
      capacity: {
        dedicatedCpus: number;
        dedicatedCpusUsed: number;
        diskBytes: number;
        diskBytesUsed: number;
        hugePages: {
          bytes: number;
          bytesUsed: number;
          size: string;
        }[];
        instances: number;
        memoryBytes: number;
        memoryBytesUsed: number;
        nodes: {
          dedicatedCpus: number;
          dedicatedCpusUsed: number;
          memoryBytes: number;
          memoryBytesBound: number;
          node: number;
        }[];
        pools: {
          bytes: number;
          bytesUsed: number;
          name: string;
        }[];
        vcpus: number;
        vcpusUsed: number;
      };
      conditions: components['schemas']['Condition'][];
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      lastSeenAt: string | null;
      name: string;
      schedulable: boolean;
      /** @enum {string} */
      state:
        | 'discovered'
        | 'enrolling'
        | 'testing'
        | 'ready'
        | 'unknown'
        | 'degraded'
        | 'draining'
        | 'maintenance'
        | 'failed'
        | 'retired';
    };
    HostDetail: {
      address: string;
      /** @enum {string} */
      breaker: 'closed' | 'open' | 'half-open';
      capacity: {
        dedicatedCpus: number;
        dedicatedCpusUsed: number;
        diskBytes: number;
        diskBytesUsed: number;
        hugePages: {
          bytes: number;
          bytesUsed: number;
          size: string;
        }[];
        instances: number;
        memoryBytes: number;
        memoryBytesUsed: number;
        nodes: {
          dedicatedCpus: number;
          dedicatedCpusUsed: number;
          memoryBytes: number;
          memoryBytesBound: number;
          node: number;
        }[];
        pools: {
          bytes: number;
          bytesUsed: number;
          name: string;
        }[];
        vcpus: number;
        vcpusUsed: number;
      };
      conditions: components['schemas']['Condition'][];
      /** Format: date-time */
      createdAt: string;
      /** Format: uuid */
      id: string;
      inventory: {
        agentVersion: string;
        architecture: string;
        cgroup?: {
          controllers: string[];
          version: number;
        };
        complete?: boolean;
        cpu: {
          flags: string[];
          model: string;
          nodes?: {
            cores: number[][];
            dedicatedCpus: number[];
            distances: {
              distance: number;
              node: number;
            }[];
            hugePagesBytes: number;
            memoryBytes: number;
            node: number;
          }[];
          numaNodes: number;
          threads: number;
        };
        disks: {
          model: string;
          name: string;
          rotational: boolean;
          sizeBytes: number;
        }[];
        hostname: string;
        kernel: string;
        memory: {
          hugepages: {
            free: number;
            sizeBytes: number;
            total: number;
          }[];
          totalBytes: number;
        };
        nics: {
          mac: string;
          mtu: number;
          name: string;
          speedMbit: number | null;
          up: boolean;
        }[];
        pools: {
          driver: string;
          freeBytes: number;
          name: string;
          totalBytes: number;
        }[];
        shares: {
          name: string;
          projects: string[];
          readonly: boolean;
          reason: string;
          usable: boolean;
        }[];
        vmms: {
          accel: string;
          capabilities: string[];
          cpuModels?: string[];
          kind: string;
          reason: string;
          usable: boolean;
          version: string;
          warning?: string;
        }[];
      } | null;
      /** Format: date-time */
      lastSeenAt: string | null;
      name: string;
      schedulable: boolean;
      /** @enum {string} */
      state:
        | 'discovered'
        | 'enrolling'
        | 'testing'
        | 'ready'
        | 'unknown'
        | 'degraded'
        | 'draining'
        | 'maintenance'
        | 'failed'
        | 'retired';
    };
    HostToken: {
      command: string;
      /** Format: date-time */
      expiresAt: string;
      /** Format: uuid */
      id: string;
      token: string;
    };
    HostTokenInfo: {
      /** Format: date-time */
      createdAt: string;
      createdBy: string;
      /** Format: date-time */
      expiresAt: string;
      /** Format: uuid */
      hostId: string | null;
      /** Format: uuid */
      id: string;
      /** @enum {string} */
      state: 'open' | 'used' | 'expired';
      /** Format: date-time */
      usedAt: string | null;
    };
    Image: {
      architecture: string;
      /** Format: date-time */
      createdAt: string;
      description: string;
      /** @enum {string} */
      firmware: 'any' | 'bios' | 'uefi';
      /** Format: uuid */
      id: string;
      kernel: {
        commandLine: string;
        initramfs: {
          bytes: number;
          sha256: string;
        } | null;
        kernel: {
          bytes: number;
          sha256: string;
        } | null;
      } | null;
      message: string;
      name: string;
      /** Format: uuid */
      projectId: string;
      public: boolean;
      sha256: string | null;
      sourceBytes: number | null;
      /** @enum {string|null} */
      sourceFormat: 'raw' | 'qcow2' | null;
      /** @enum {string} */
      state: 'queued' | 'uploading' | 'importing' | 'ready' | 'error' | 'deleting';
      /** Format: uuid */
      taskId: string | null;
      vendorData: string | null;
      virtualBytes: number | null;
      vmm: string | null;
    };
    Instance: {
      /** @enum {string|null} */
      configDrive: 'openstack' | 'nocloud' | null;
      /** Format: date-time */
      createdAt: string;
      dedicatedCpus: number[] | null;
      description: string;
      flavor: {
        diskBytes: number;
        hardware: {
          cpuModel: string | null;
          /** @enum {string} */
          cpuPolicy: 'shared' | 'dedicated';
          numaNodes: number | null;
          pageSize: string | null;
          sharedMemory: boolean;
        };
        /** Format: uuid */
        id: string | null;
        limits: {
          disk: {
            burstSeconds: number;
            bytesPerSecond: number | null;
            iops: number | null;
          } | null;
          nic: {
            burstSeconds: number;
            bytesPerSecond: number;
          } | null;
        };
        memoryBytes: number;
        name: string;
        vcpus: number;
      };
      guest: {
        looping: boolean;
        lost: string[];
        /** Format: date-time */
        panickedAt: string | null;
        /** Format: date-time */
        resetAt: string | null;
        /** Format: date-time */
        watchdogAt: string | null;
      } | null;
      host: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
      hostname: string;
      /** Format: uuid */
      id: string;
      image: {
        /** Format: uuid */
        id: string;
        name: string;
      };
      lastExit: {
        /** Format: date-time */
        at: string;
        code: number | null;
        reason: string;
        signal: string | null;
      } | null;
      lock: {
        /** Format: date-time */
        at: string;
        by: string;
        reason: string;
      } | null;
      machine: {
        balloon: boolean;
        /** @enum {string|null} */
        panic: 'restart' | 'stop' | 'notify' | null;
        secureBoot: boolean;
        tpm: boolean;
        vsock: boolean;
        /** @enum {string|null} */
        watchdog: 'restart' | 'stop' | 'notify' | null;
      };
      maxMemoryBytes: number | null;
      maxVcpus: number | null;
      metadata: {
        [key: string]: string;
      };
      name: string;
      /** Format: date-time */
      observedAt: string | null;
      ports: {
        address: string;
        /** Format: uuid */
        id: string;
        mac: string;
        network: string;
        /** Format: uuid */
        networkId: string;
      }[];
      /** Format: uuid */
      projectId: string;
      protected: boolean;
      rescue: {
        image: {
          /** Format: uuid */
          id: string;
          name: string;
        };
      } | null;
      /** @enum {string} */
      restartPolicy: 'never' | 'on-failure';
      shares: {
        readonly: boolean;
        share: string;
      }[];
      sshKeys: string[];
      /** Format: date-time */
      startedAt: string | null;
      /** @enum {string} */
      state:
        | 'building'
        | 'running'
        | 'paused'
        | 'suspended'
        | 'rescued'
        | 'starting'
        | 'stopping'
        | 'rebooting'
        | 'pausing'
        | 'suspending'
        | 'resuming'
        | 'resizing'
        | 'rebuilding'
        | 'rescuing'
        | 'unrescuing'
        | 'stopped'
        | 'deleting'
        | 'unknown'
        | 'error';
      stateReason: string;
      stopGraceSeconds: number;
      tags: string[];
      /** Format: uuid */
      taskId: string | null;
      vmm: string | null;
      wantedVmm: string | null;
    };
    InstanceCheck: {
      hostnames: string[];
    };
    InstanceMemory: {
      guest: {
        /** Format: date-time */
        at: string;
        availableBytes: number;
        freeBytes: number;
        totalBytes: number;
      } | null;
      heldBytes: number;
      memoryBytes: number;
      targetBytes: number | null;
    };
    InstancesWithTask: {
      instances: components['schemas']['Instance'][];
      /** Format: uuid */
      taskId: string;
    };
    InstanceWithTask: {
      instance: components['schemas']['Instance'];
      /** Format: uuid */
      taskId: string;
    };
    Leftover: {
      bytes: number | null;
      holds: string[];
      kind: string;
      mark: string;
      name: string;
      owner: string | null;
      ownerId: string | null;
      /** Format: date-time */
      since: string | null;
    };
    LeftoverList: {
      failed: string[];
      leftovers: components['schemas']['Leftover'][];
      /** Format: date-time */
      scannedAt: string;
      truncated: boolean;
    };
    Member: {
      /** @enum {string} */
      role: 'project-admin' | 'member' | 'viewer';
      /** Format: uuid */
      userId: string;
      userName: string;
    };
    Network: {
      addresses: {
        total: number;
        used: number;
      };
      /** Format: date-time */
      createdAt: string;
      description: string;
      guestEgress: {
        allow: string[];
        deny: string[];
      } | null;
      /** Format: uuid */
      id: string;
      mtu: number;
      name: string;
      /** Format: uuid */
      projectId: string;
      router: {
        /** Format: uuid */
        id: string;
        name: string;
        snat: boolean;
      } | null;
      subnets: {
        addresses: {
          total: number;
          used: number;
        };
        cidr: string;
        dns: string[];
        gateway: string;
        /** Format: uuid */
        id: string;
        name: string;
      }[];
    };
    Port: {
      address: string;
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      instanceId: string | null;
      mac: string;
      message: string;
      network: string;
      /** Format: uuid */
      networkId: string;
      position: number;
      /** Format: uuid */
      projectId: string;
      securityGroups: {
        /** Format: uuid */
        id: string;
        name: string;
      }[];
      /** @enum {string} */
      state: 'down' | 'active' | 'error';
    };
    PortWithTask: {
      instance: components['schemas']['Instance'];
      /** Format: uuid */
      portId: string;
      /** Format: uuid */
      taskId: string;
    };
    /** @description RFC 9457. Further members may follow, by code. */
    Problem: {
      /** @description Stable, in snake_case. Branch on this. */
      code: string;
      detail: string;
      errors?: {
        code: string;
        message: string;
        /** @example body.name */
        path: string;
      }[];
      instance: string;
      requestId: string;
      status: number;
      title: string;
      type: string;
    };
    Project: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      /** Format: uuid */
      id: string;
      name: string;
    };
    Router: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      /** Format: uuid */
      id: string;
      name: string;
      /** Format: uuid */
      projectId: string;
      snat: boolean;
      subnets: {
        cidr: string;
        /** Format: uuid */
        id: string;
        name: string;
        network: string;
        /** Format: uuid */
        networkId: string;
      }[];
    };
    SecurityGroup: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      hosts: {
        concerned: number;
        converged: number;
      };
      /** Format: uuid */
      id: string;
      isDefault: boolean;
      name: string;
      portCount: number;
      /** Format: uuid */
      projectId: string;
      ruleCount: number;
      /** @enum {string} */
      status: 'active' | 'pending';
    };
    SecurityGroupRule: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      /** @enum {string} */
      direction: 'ingress' | 'egress';
      /** @enum {string} */
      ethertype: 'ipv4' | 'ipv6';
      icmpCode: number | null;
      icmpType: number | null;
      /** Format: uuid */
      id: string;
      portMax: number | null;
      portMin: number | null;
      protocol: string | null;
      remoteCidr: string | null;
      remoteGroup: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
    };
    SecurityGroupWithRules: {
      /** Format: date-time */
      createdAt: string;
      description: string;
      hosts: {
        concerned: number;
        converged: number;
      };
      /** Format: uuid */
      id: string;
      isDefault: boolean;
      name: string;
      portCount: number;
      /** Format: uuid */
      projectId: string;
      ruleCount: number;
      rules: components['schemas']['SecurityGroupRule'][];
      /** @enum {string} */
      status: 'active' | 'pending';
    };
    Session: {
      /** Format: date-time */
      createdAt: string;
      /** Format: date-time */
      expiresAt: string;
      /** Format: uuid */
      id: string;
      /** Format: date-time */
      lastUsedAt: string;
      remoteAddress: string | null;
    };
    Share: {
      hosts:
        | {
            /** Format: uuid */
            id: string;
            name: string;
            readonly: boolean;
          }[]
        | null;
      name: string;
      readonly: boolean;
    };
    SshKey: {
      /** Format: date-time */
      createdAt: string;
      fingerprint: string;
      /** Format: uuid */
      id: string;
      name: string;
      /** Format: uuid */
      projectId: string;
      publicKey: string;
      type: string;
    };
    Subnet: {
      addresses: {
        total: number;
        used: number;
      };
      cidr: string;
      /** Format: date-time */
      createdAt: string;
      dns: string[];
      gateway: string;
      /** Format: uuid */
      id: string;
      name: string;
      network: string;
      /** Format: uuid */
      networkId: string;
      /** Format: uuid */
      projectId: string;
      router: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
    };
    Task: {
      children: number;
      /** Format: date-time */
      createdAt: string;
      createdBy: string;
      durationMs: number | null;
      /** Format: date-time */
      endedAt: string | null;
      error: {
        attempts: number;
        code: string;
        hint: string | null;
        host: string | null;
        leftSteps: {
          host: string | null;
          name: string;
          reason: string | null;
          title: string;
        }[];
        message: string;
        reason: string;
        requestId: string | null;
        step: string | null;
        stepTitle: string | null;
        undone: boolean;
        undoneSteps: {
          host: string | null;
          name: string;
          reason: string | null;
          title: string;
        }[];
      } | null;
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      parentId: string | null;
      progress: number;
      /** Format: uuid */
      projectId: string | null;
      requestId: string | null;
      /** Format: date-time */
      startedAt: string | null;
      /** @enum {string} */
      state: 'queued' | 'running' | 'compensating' | 'succeeded' | 'failed' | 'cancelled' | 'stuck';
      step: string | null;
      stepTitle: string | null;
      subject: {
        /** Format: uuid */
        id: string;
        kind: string;
        name: string;
      };
      type: string;
    };
    TaskDetail: {
      audit: {
        /** Format: date-time */
        at: string;
        by: {
          id: string;
          name: string;
        } | null;
        reason: string | null;
        requestId: string;
        step: string | null;
        /** @enum {string} */
        verb: 'cancel' | 'retry' | 'skip-step' | 'abandon';
      }[];
      cancel: {
        reason: string | null;
        /** Format: date-time */
        requestedAt: string;
      } | null;
      children: number;
      childTasks: {
        error: string | null;
        /** Format: uuid */
        id: string;
        progress: number;
        /** @enum {string} */
        state: 'queued' | 'running' | 'compensating' | 'succeeded' | 'failed' | 'cancelled' | 'stuck';
        step: string | null;
        subject: {
          /** Format: uuid */
          id: string;
          kind: string;
          name: string;
        };
        type: string;
      }[];
      /** Format: date-time */
      createdAt: string;
      createdBy: string;
      durationMs: number | null;
      /** Format: date-time */
      endedAt: string | null;
      error: {
        attempts: number;
        code: string;
        hint: string | null;
        host: string | null;
        leftSteps: {
          host: string | null;
          name: string;
          reason: string | null;
          title: string;
        }[];
        message: string;
        reason: string;
        requestId: string | null;
        step: string | null;
        stepTitle: string | null;
        undone: boolean;
        undoneSteps: {
          host: string | null;
          name: string;
          reason: string | null;
          title: string;
        }[];
      } | null;
      /** Format: uuid */
      id: string;
      irrevocable: string | null;
      parent: {
        error: string | null;
        /** Format: uuid */
        id: string;
        progress: number;
        /** @enum {string} */
        state: 'queued' | 'running' | 'compensating' | 'succeeded' | 'failed' | 'cancelled' | 'stuck';
        step: string | null;
        subject: {
          /** Format: uuid */
          id: string;
          kind: string;
          name: string;
        };
        type: string;
      } | null;
      /** Format: uuid */
      parentId: string | null;
      progress: number;
      /** Format: uuid */
      projectId: string | null;
      requestId: string | null;
      /** Format: date-time */
      startedAt: string | null;
      /** @enum {string} */
      state: 'queued' | 'running' | 'compensating' | 'succeeded' | 'failed' | 'cancelled' | 'stuck';
      step: string | null;
      steps: components['schemas']['TaskStep'][];
      stepTitle: string | null;
      subject: {
        /** Format: uuid */
        id: string;
        kind: string;
        name: string;
      };
      type: string;
      waiting: {
        /** @enum {string} */
        kind: 'retry' | 'host' | 'condition' | 'lock' | 'limit' | 'children' | 'worker';
        text: string;
        /** Format: date-time */
        until: string | null;
      } | null;
    };
    TaskStep: {
      attempt: number;
      durationMs: number | null;
      /** Format: date-time */
      endedAt: string | null;
      error: {
        code: string;
        message: string;
      } | null;
      host: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
      message: string | null;
      name: string;
      /** Format: date-time */
      nextTryAt: string | null;
      /** @enum {string} */
      phase: 'run' | 'undo';
      progress: number | null;
      /** Format: date-time */
      startedAt: string | null;
      /** @enum {string} */
      state: 'pending' | 'running' | 'succeeded' | 'failed' | 'skipped';
      title: string;
    };
    Tokens: {
      accessToken: string;
      expiresIn: number;
      refreshExpiresIn: number;
      refreshToken: string;
    };
    User: {
      admin: boolean;
      /** Format: date-time */
      createdAt: string;
      enabled: boolean;
      /** Format: uuid */
      id: string;
      name: string;
    };
    Volume: {
      attachments: {
        /** Format: uuid */
        instanceId: string;
        position: number;
        readonly: boolean;
      }[];
      bytes: number;
      /** Format: date-time */
      createdAt: string;
      host: {
        /** Format: uuid */
        id: string;
        name: string;
      } | null;
      /** Format: uuid */
      id: string;
      /** Format: uuid */
      imageId: string | null;
      /** Format: uuid */
      instanceId: string | null;
      name: string;
      pool: string;
      /** Format: uuid */
      projectId: string;
      protected: boolean;
      /** @enum {string} */
      role: 'root' | 'data' | 'rescue';
      /** @enum {string} */
      state: 'creating' | 'available' | 'attaching' | 'in-use' | 'detaching' | 'deleting' | 'error';
    };
    VsockTicket: {
      expiresIn: number;
      path: string;
      ticket: string;
    };
    Whoami: {
      projects: {
        /** Format: uuid */
        id: string;
        name: string;
        /** @enum {string} */
        role: 'project-admin' | 'member' | 'viewer' | 'admin';
      }[];
      user: components['schemas']['User'];
      /** @enum {string} */
      via: 'session' | 'api-token';
    };
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}
export type ApiToken = components['schemas']['ApiToken'];
export type AttachedVolumeWithTask = components['schemas']['AttachedVolumeWithTask'];
export type Condition = components['schemas']['Condition'];
export type ConsoleLog = components['schemas']['ConsoleLog'];
export type ConsoleTicket = components['schemas']['ConsoleTicket'];
export type CoreDump = components['schemas']['CoreDump'];
export type CoreDumpDeletion = components['schemas']['CoreDumpDeletion'];
export type CoreDumps = components['schemas']['CoreDumps'];
export type CoreDumpWithTask = components['schemas']['CoreDumpWithTask'];
export type CreatedApiToken = components['schemas']['CreatedApiToken'];
export type Flavor = components['schemas']['Flavor'];
export type GuestData = components['schemas']['GuestData'];
export type Host = components['schemas']['Host'];
export type HostDetail = components['schemas']['HostDetail'];
export type HostToken = components['schemas']['HostToken'];
export type HostTokenInfo = components['schemas']['HostTokenInfo'];
export type Image = components['schemas']['Image'];
export type Instance = components['schemas']['Instance'];
export type InstanceCheck = components['schemas']['InstanceCheck'];
export type InstanceMemory = components['schemas']['InstanceMemory'];
export type InstancesWithTask = components['schemas']['InstancesWithTask'];
export type InstanceWithTask = components['schemas']['InstanceWithTask'];
export type Leftover = components['schemas']['Leftover'];
export type LeftoverList = components['schemas']['LeftoverList'];
export type Member = components['schemas']['Member'];
export type Network = components['schemas']['Network'];
export type Port = components['schemas']['Port'];
export type PortWithTask = components['schemas']['PortWithTask'];
export type Problem = components['schemas']['Problem'];
export type Project = components['schemas']['Project'];
export type Router = components['schemas']['Router'];
export type SecurityGroup = components['schemas']['SecurityGroup'];
export type SecurityGroupRule = components['schemas']['SecurityGroupRule'];
export type SecurityGroupWithRules = components['schemas']['SecurityGroupWithRules'];
export type Session = components['schemas']['Session'];
export type Share = components['schemas']['Share'];
export type SshKey = components['schemas']['SshKey'];
export type Subnet = components['schemas']['Subnet'];
export type Task = components['schemas']['Task'];
export type TaskDetail = components['schemas']['TaskDetail'];
export type TaskStep = components['schemas']['TaskStep'];
export type Tokens = components['schemas']['Tokens'];
export type User = components['schemas']['User'];
export type Volume = components['schemas']['Volume'];
export type VsockTicket = components['schemas']['VsockTicket'];
export type Whoami = components['schemas']['Whoami'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
