#!/bin/sh
# Refuses a document that breaks those who use the last release's: $1 is oasdiff.
#
# The last release's document lies in api/released/openapi.yaml, put there by
# `make contract-release` when a release is made. (Rejected: to take it from a tag. A
# source archive and a shallow clone have none, and the check would pass by having
# nothing to look at.)
set -eu
oasdiff=$1
cd "$(dirname "$0")"

# What is to be found is made first: a member of a request becomes required, and a path
# goes. The document itself breaks nothing.
"$oasdiff" breaking --fail-on ERR openapi.yaml openapi.yaml
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
refuse() { # what oasdiff calls it, and how the document comes to it
	sed "$2" openapi.yaml >"$broken"
	if said=$("$oasdiff" breaking --fail-on ERR --format singleline openapi.yaml "$broken"); then
		echo "breaking: $1 was not refused" >&2
		exit 1
	fi
	case $said in
	*"[$1]"*) ;;
	*)
		echo "breaking: $1 was not seen in: $said" >&2
		exit 1
		;;
	esac
}
refuse request-property-became-required 's/required: \[auction_id, vertical, state, tcpa_consent\]/required: [auction_id, vertical, state, tcpa_consent, zip3]/'
refuse api-path-removed-without-deprecation 's/^  \/api\/v1\/ping:$/  \/api\/v1\/ask:/'

if [ ! -e released/openapi.yaml ]; then
	echo 'breaking: there is no release yet, so nothing to break'
	exit 0
fi
"$oasdiff" breaking --fail-on ERR released/openapi.yaml openapi.yaml
