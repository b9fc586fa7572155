#!/bin/sh
# Builds the files of a release from this tree into a new folder:
#
#   deploy/release.sh FOLDER [PART...]
#
# PARTS: tar (programs and systemd unit), deb, rpm, image (OCI layout), sbom; all by default.
# ARCHITECTURES selects processors. NFPM and CYCLONEDX are the paths of the tools. COMMIT
# replaces the commit in the version, SOURCE_DATE_EPOCH the time of the commit. The same commit gives the same bytes: no file has a
# time of the build, a name of the machine or a path of the tree.
set -eu
[ $# -gt 0 ] || { echo 'usage: deploy/release.sh FOLDER [PART...]' >&2; exit 1; }
out=$1
shift
parts=${*:-tar deb rpm image sbom}
[ ! -e "$out" ] || { echo "release: $out exists; remove it first" >&2; exit 1; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."

export LC_ALL=C TZ=UTC CGO_ENABLED=0 GOOS=linux GOFLAGS=
: "${ARCHITECTURES:=amd64 arm64}" "${GO:=go}"
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
: "${COMMIT=$(git describe --always --abbrev=12 --dirty=.dirty --exclude='*' 2>/dev/null || :)}"
export SOURCE_DATE_EPOCH # nfpm reads it too
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT

has() { case " $parts " in *" $1 "*) ;; *) return 1 ;; esac; }

# archive FILE FOLDER writes the folder as a tar archive to FILE, or to standard output.
archive() {
	tar --sort=name --format=ustar --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
		-C "$2" -cf "$1" .
}

host=$($GO env GOHOSTARCH)
for arch in $host $ARCHITECTURES; do
	[ -e "$stage/$arch" ] && continue
	mkdir "$stage/$arch"
	GOARCH=$arch $GO build -trimpath -buildvcs=false -ldflags "-s -w -X pingpost/internal/version.commit=$COMMIT" -o "$stage/$arch/pingpost" ./cmd/pingpost
done
VERSION=$("$stage/$host/pingpost" version | sed 's/^pingpost //')
export VERSION

for arch in $ARCHITECTURES; do
	export ARCH="$arch" STAGE="$stage/$arch"
	name=pingpost_${VERSION}_linux_$arch
	sed 's|/usr/local/bin/|/usr/bin/|' deploy/pingpost.service >"$STAGE/pingpost.service"
	for shell in bash fish; do
		"$stage/$host/pingpost" completion -c $shell | sed "s|$stage/$host/pingpost|/usr/bin/pingpost|g" >"$STAGE/pingpost.$shell"
	done
	if has tar; then
		mkdir -p "$STAGE/tar/$name"
		install -m 755 "$STAGE/pingpost" "$STAGE/tar/$name/pingpost"
		install -m 644 LICENSE deploy/pingpost.service deploy/package/pingpost.yaml "$STAGE/tar/$name"
		archive - "$STAGE/tar" | gzip -9n >"$out/$name.tar.gz"
	fi
	for packager in deb rpm; do
		! has $packager || (cd deploy/package && "$NFPM" package --config nfpm.yaml --packager $packager --target "$out" >&2)
	done
	if has sbom; then
		"$CYCLONEDX" bin -json -noserial -notimestamp -std -licenses -version "$VERSION" -output "$out/$name.cdx.json" "$STAGE/pingpost"
	fi
done
if has image; then
	programs=
	for arch in $ARCHITECTURES; do programs="$programs $arch=$stage/$arch/pingpost"; done
	# shellcheck disable=SC2086 # one argument for each architecture
	GOOS='' $GO run ./deploy/image -out "$stage/image" -version "$VERSION" -created "$SOURCE_DATE_EPOCH" $programs
	archive "$out/pingpost_${VERSION}_image.tar" "$stage/image"
fi
(cd "$out" && sha256sum -- * >"$stage/SHA256SUMS" && mv "$stage/SHA256SUMS" .)
