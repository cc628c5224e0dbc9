# The management role. Hosts run the compute role from a checkout or package, never from a container.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY --from=build /app/web/dist ./web/dist
COPY --from=build /app/bin ./bin
RUN useradd --system --home-dir /var/lib/vc-stack vc-stack && mkdir -p /var/lib/vc-stack /run/vc-stack && chown vc-stack: /var/lib/vc-stack /run/vc-stack
USER vc-stack
VOLUME /var/lib/vc-stack
EXPOSE 8443 8445
ENTRYPOINT ["bin/vc-stack"]
CMD ["management", "--migrate"]
