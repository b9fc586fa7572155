#!/bin/sh
# Fails if a document breaks clients of the last release. $1 is oasdiff.
#
# `make contract-release` copies the documents of a release to api/released/. (Rejected: to
# read them from a tag. A source archive and a shallow clone have no tags, so the check
# would pass without a comparison.)
set -eu
oasdiff=$1
cd "$(dirname "$0")"

# First tests oasdiff itself: it must reject breaking changes of the released document.
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
refused=0
refuse() { # refuse DOCUMENT OASDIFF-ID SED-SCRIPT
	sed "$3" "released/$1" >"$broken"
	if said=$("$oasdiff" breaking --fail-on ERR --format singleline "released/$1" "$broken"); then
		echo "breaking: $1: oasdiff did not reject $2" >&2
		exit 1
	fi
	case $said in
	*"[$2]"*) ;;
	*)
		echo "breaking: $1: oasdiff did not report $2 but: $said" >&2
		exit 1
		;;
	esac
	refused=$((refused + 1))
}
for document in openapi.yaml admin.yaml; do
	"$oasdiff" breaking --fail-on ERR "released/$document" "released/$document"
done
refuse openapi.yaml request-property-became-required 's/required: \[auction_id, vertical, state, tcpa_consent\]/required: [auction_id, vertical, state, tcpa_consent, zip3]/'
refuse openapi.yaml api-path-removed-without-deprecation 's/^  \/api\/v1\/ping:$/  \/api\/v1\/ask:/'
refuse openapi.yaml response-property-became-optional 's/required: \[auction_id, lead_id, id, status, buyer_id, price\]/required: [auction_id, lead_id, id, status, buyer_id]/'
refuse openapi.yaml request-property-enum-value-removed 's/enum: \[contacted, qualified, sold, returned\]/enum: [contacted, qualified, sold]/'
refuse admin.yaml request-property-became-required '/^    UserWanted:$/,/properties:/s/required: \[role\]/required: [role, password]/'
refuse admin.yaml api-path-removed-without-deprecation 's/^  \/admin\/v1\/users:$/  \/admin\/v1\/staff:/'
refuse admin.yaml response-property-became-optional 's/required: \[api_key, hint\]/required: [api_key]/'
refuse admin.yaml request-property-enum-value-removed '/^    Role:$/,/enum/s/enum: \[viewer, operator, admin\]/enum: [viewer, operator]/'

# severities.txt: docs/versioning.md allows new enum values, so they break no client.
# accepted.txt: intended breaking changes. A buyer without funds has no balance, so the member
# is absent.
for document in openapi.yaml admin.yaml; do
	"$oasdiff" breaking --fail-on ERR --severity-levels severities.txt --err-ignore accepted.txt "released/$document" "$document"
done
echo "breaking: compatible with the last release; oasdiff rejected all $refused test changes"
