#!/bin/sh
set -eu
home=${HOME:-/root}

# Says hello.
hello() {
    echo "it's ${1}"

    return 0
}
run()
{
    hello x
}
run "$@"
