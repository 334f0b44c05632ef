# Sourced by scripts/quickstart and scripts/test: make_venv EXTRAS leaves an activated .venv with the package in it.
# Nothing is installed again while pyproject.toml, constraints.txt and the extras stay as they are.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

find_python() {
  local name
  for name in python3.11 python3.12 python3.13 python3; do
    if command -v "$name" >/dev/null 2>&1 && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      echo "$name"
      return
    fi
  done
  echo "Python 3.11 or newer is needed; install it and run this again" >&2
  return 1
}

# On a machine without an NVIDIA GPU pip may still choose the CUDA build of torch, several GB: look before installing.
refuse_cuda_build() {
  if [ -n "${HF_KOKORO_ALLOW_CUDA:-}" ] || command -v nvidia-smi >/dev/null 2>&1 || python -c 'import torch' 2>/dev/null; then
    return 0
  fi
  local plan
  plan=$(python -m pip install --quiet --dry-run --ignore-installed --report - -c "$root/constraints.txt" torch 2>/dev/null) || return 0
  if grep -qiE '"name": *"(nvidia|cuda)[-_]' <<<"$plan"; then
    cat >&2 <<'SAY'
pip would fetch the CUDA build of torch (several GB), but this machine has no NVIDIA GPU.
Give pip a CPU build first (see "Install" in README.md), or set HF_KOKORO_ALLOW_CUDA=1 to go on anyway.
SAY
    return 1
  fi
}

make_venv() {
  local extras=$1 stamp wanted python
  wanted=$(cat "$root/pyproject.toml" "$root/constraints.txt" - <<<"$extras" | cksum)
  stamp="$root/.venv/installed-$extras"
  if [ ! -x "$root/.venv/bin/python" ]; then
    python=$(find_python) || return 1
    echo "== making .venv with $python"
    "$python" -m venv "$root/.venv" || return 1
  fi
  # shellcheck disable=SC1091
  source "$root/.venv/bin/activate"
  if [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
    echo "== .venv has hf-kokoro[$extras] already"
    return 0
  fi
  refuse_cuda_build || return 1
  echo "== installing hf-kokoro[$extras] into .venv (versions in constraints.txt)"
  python -m pip install --quiet --disable-pip-version-check -c "$root/constraints.txt" -e "$root[$extras]" || return 1
  echo "$wanted" >"$stamp"
}
