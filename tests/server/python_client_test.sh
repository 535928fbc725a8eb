#!/bin/sh
# The Python package: its wheels, a home in the process and a service asked by it, the examples of docs/sdk.md, its types,
# and the retrievers for LangChain and LlamaIndex under those projects' own tests. Speaks TAP; says what it skips where
# PyPI is out of reach. CLIENTS_CACHE=DIR keeps what was installed for the next run.
. "$(dirname "$0")/tap.sh"
build=${BUILD:-build} cache=${CLIENTS_CACHE:-$work} tests=$(dirname "$0")/clients
python3=$(command -v python3) || skip_all python_client "no python3"
"$python3" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip_all python_client "python3 is older than 3.9"
[ -e "$build/libforage.so" ] || skip_all python_client "$build/libforage.so is not built (make)"
export NO_PROXY=127.0.0.1 no_proxy=127.0.0.1 WHEEL_LEVEL=0 PYTHONDONTWRITEBYTECODE=1

run 0 server/clients/python/wheel.py "$build" "$work/a" && run 0 server/clients/python/wheel.py "$build" "$work/b" &&
    cmp -s "$work"/a/*-any.whl "$work"/b/*-any.whl && cmp -s "$work"/a/*linux*.whl "$work"/b/*linux*.whl
check "the wheels are made, twice the same bytes" $?
rm -rf "$work/b"
name="pip installs it, and it reads a DOCX into a home"
if "$python3" -m venv "$work/venv" >/dev/null 2>&1; then
    run 0 "$work/venv/bin/pip" install -q --no-index --target "$work/site" "$work"/a/*linux*.whl &&
        PYTHONPATH="$work/site" run 0 "$python3" - "$work/home.pip" <<'PY'
import io, sys, zipfile
from importlib.metadata import metadata
import forage
assert forage.__version__ == metadata("forage")["Version"]
assert metadata("forage")["License"] == "Apache-2.0 AND CC-BY-SA-4.0"  # the library holds models
docx = io.BytesIO()
with zipfile.ZipFile(docx, "w") as z:
    z.writestr("word/document.xml", '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
               "<w:p><w:r><w:t>The weir is opened in March.</w:t></w:r></w:p></w:body></w:document>")
with forage.open(sys.argv[1]) as f:
    reply = f.ingest([{"bytes": docx.getvalue(), "file_name": "weir.docx", "id": "weir"}])
    assert reply["results"][0]["status"] == "created", reply
    assert "opened in March" in f.get("weir")["text"]
PY
    check "$name" $?
    rm -rf "$work/venv"
else # zipfile keeps no modes
    run 0 "$python3" -m zipfile -e "$work"/a/*linux*.whl "$work/site" && chmod 755 "$work/site/forage/lib/forage-extract"
    skip "$name" "no venv (python3-venv)"
fi
serve "$work/home.served" --log-level warn --max-body 2M
check "a service starts" $?
run 0 "$python3" -m zipfile -e "$work"/a/*-any.whl "$work/any" && PYTHONPATH="$work/any" run 0 "$python3" "$tests/client.py" "$url"
check "a service is asked without the library" $?
case $build in
*/san-*) skip "a home in the process works" "the interpreter is built without the sanitizer" ;;
*)
    export PYTHONPATH="$work/site"
    run 0 "$python3" "$tests/client.py" "$work/home"; check "a home in the process works" $?
    model=models/smollm2-135m-instruct-q4_1.gguf
    if [ -f "$model" ]; then
        run 0 "$python3" "$tests/client.py" "$work/home.model" "$model"; check "so does one with a language model" $?
    else
        skip "so does one with a language model" "no model is here (make models)"
    fi
    mkdir "$work/examples"
    awk -v dir="$work/examples" '/^```/ {on = $0 == "```python"; n += on; next} on {print > (dir "/" n ".py")}' docs/sdk.md
    sed -i "s|http://127.0.0.1:8080|$url|" "$work"/examples/*.py
    for example in "$work"/examples/*.py; do
        (cd "$work/examples" && run 0 "$python3" "$example" && grep -q '400 hours' "$work/out")
        check "example $(basename "$example" .py) of the manual does what it says" $?
    done
    ;;
esac
python=$cache/sdk-venv/bin/python
if [ ! -x "$python" ] || ! "$python" -c 'import langchain_tests, llama_index.core, mypy' 2>/dev/null; then
    { "$python3" -m venv "$cache/sdk-venv" && timeout 300 "$cache/sdk-venv/bin/pip" install -q --retries 1 --timeout 20 \
        'langchain-tests>=1' 'llama-index-core>=0.14' mypy; } >/dev/null 2>&1 || python=
fi
if [ -n "$python" ]; then
    export PLACE="$url" PYTHONPATH="$work/any"
    run 0 "$python" -m pytest -q -o asyncio_mode=auto -p no:cacheprovider --disable-socket --allow-hosts=127.0.0.1 "$tests/test_retrievers.py" &&
        grep -q ' passed' "$work/out" && ! grep -q 'failed\|skipped' "$work/out"
    check "LangChain's standard tests and LlamaIndex's ways pass: $(tail -n 1 "$work/out" | sed 's/ in .*//')" $?
    run 0 "$python" -m mypy --strict --cache-dir=/dev/null --follow-imports=silent server/clients/python/forage
    check "its types hold (mypy --strict)" $?
else
    skip "LangChain's standard tests and LlamaIndex's ways pass" "pip reaches no registry, or there is no venv"
    skip "its types hold (mypy --strict)" "pip reaches no registry, or there is no venv"
fi
stop TERM; check "the service stops cleanly after them" $?
finish
