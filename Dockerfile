# The management role. Hosts run the compute role from a checkout or package, never from a container.
#
# Images are read in sandboxes, which an unprivileged user makes with user namespaces. A container engine's defaults forbid both these and a /proc of
# their own; run it with
#   docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined ...
# Without, everything works but uploads and imports, which are refused (`no_sandbox`).
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev && rm -r dist/src/core/testing dist/src/modules/*/testing

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist/src ./dist/src
COPY --from=build /app/dist/migrations ./dist/migrations
COPY --from=build /app/web/dist ./web/dist
COPY --from=build /app/bin ./bin
RUN bash -euo pipefail -c '. bin/lib.sh && need_packages "${management_packages[@]}"' && rm -rf /var/lib/apt/lists/*
RUN useradd --system --home-dir /var/lib/vc-stack vc-stack && mkdir -p /var/lib/vc-stack /run/vc-stack && chown vc-stack: /var/lib/vc-stack /run/vc-stack
USER vc-stack
VOLUME /var/lib/vc-stack
EXPOSE 8443 8445
ENTRYPOINT ["bin/vc-stack"]
CMD ["management", "--migrate"]
