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

# What is to be found is made first, of the released document itself.
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
refuse() { # what oasdiff calls it, and how the document comes to it
	sed "$2" released/openapi.yaml >"$broken"
	if said=$("$oasdiff" breaking --fail-on ERR --format singleline released/openapi.yaml "$broken"); then
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
"$oasdiff" breaking --fail-on ERR released/openapi.yaml released/openapi.yaml
refuse request-property-became-required 's/required: \[auction_id, vertical, state, tcpa_consent\]/required: [auction_id, vertical, state, tcpa_consent, zip3]/'
refuse api-path-removed-without-deprecation 's/^  \/api\/v1\/ping:$/  \/api\/v1\/ask:/'
refuse response-property-became-optional 's/required: \[auction_id, lead_id, id, status, buyer_id, price\]/required: [auction_id, lead_id, id, status, buyer_id]/'
refuse request-property-enum-value-removed 's/enum: \[contacted, qualified, sold, returned\]/enum: [contacted, qualified, sold]/'

"$oasdiff" breaking --fail-on ERR released/openapi.yaml openapi.yaml
echo 'breaking: nothing is broken of the last release, and each of 4 breaches was refused'
