#!/bin/sh
# Refuses documents that break those who use the last release's: $1 is oasdiff.
#
# The last release's documents lie in api/released/, put there by `make contract-release`
# when a release is made. (Rejected: to take them from a tag. A source archive and a
# shallow clone have none, and the check would pass by having nothing to look at.)
set -eu
oasdiff=$1
cd "$(dirname "$0")"

# What is to be found is made first, of the released document itself.
broken=$(mktemp)
trap 'rm -f "$broken"' EXIT
refused=0
refuse() { # of which document, what oasdiff calls it, and how the document comes to it
	sed "$3" "released/$1" >"$broken"
	if said=$("$oasdiff" breaking --fail-on ERR --format singleline "released/$1" "$broken"); then
		echo "breaking: $1: $2 was not refused" >&2
		exit 1
	fi
	case $said in
	*"[$2]"*) ;;
	*)
		echo "breaking: $1: $2 was not seen in: $said" >&2
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

# severities.txt: docs/versioning.md announces new values in lists of words, so they break
# no client. accepted.txt: breaks that were decided on. A buyer without funds has no
# balance, so the member is absent.
for document in openapi.yaml admin.yaml; do
	"$oasdiff" breaking --fail-on ERR --severity-levels severities.txt --err-ignore accepted.txt "released/$document" "$document"
done
echo "breaking: nothing is broken of the last release, and each of $refused breaches was refused"
