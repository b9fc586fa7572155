package main

import (
	"archive/tar"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"pingpost/internal/must"
)

const created = 1700000000

// writeImage writes a layout from small programs and returns its folder.
func writeImage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"amd64": "program for amd64", "arm64": "program for arm64", "issuers.pem": "certificates"} {
		must.Succeed(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out := filepath.Join(dir, "layout")
	must.Succeed(t, run([]string{
		"-out", out, "-version", "1.2.3-dev+abc", "-created", fmt.Sprint(created), "-certificates", filepath.Join(dir, "issuers.pem"),
		"amd64=" + filepath.Join(dir, "amd64"), "arm64=" + filepath.Join(dir, "arm64"),
	}))
	return out
}

// readImages reads a layout back and returns its images by architecture. It checks every
// digest, size and media type.
func readImages(t *testing.T, folder string) map[string]v1.Image {
	t.Helper()
	outer := must.Value(layout.ImageIndexFromPath(folder))(t)
	manifest := must.Value(outer.IndexManifest())(t)
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].MediaType != types.OCIImageIndex ||
		manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.2.3-dev-abc" {
		t.Fatalf("index.json: %+v", manifest)
	}
	index := must.Value(outer.ImageIndex(manifest.Manifests[0].Digest))(t)
	must.Succeed(t, validate.Index(index))
	images := map[string]v1.Image{}
	for _, one := range must.Value(index.IndexManifest())(t).Manifests {
		if one.MediaType != types.OCIManifestSchema1 || one.Platform == nil || one.Platform.OS != "linux" {
			t.Errorf("an image of the index: %+v", one)
			continue
		}
		images[one.Platform.Architecture] = must.Value(index.Image(one.Digest))(t)
	}
	return images
}

// TestLayout reads the layout back: both images have their program, the certificates and the
// data folder of the user.
func TestLayout(t *testing.T) {
	images := readImages(t, writeImage(t))
	if len(images) != 2 {
		t.Fatalf("%d images", len(images))
	}
	for architecture, image := range images {
		config := must.Value(image.ConfigFile())(t)
		if config.OS != "linux" || config.Architecture != architecture || config.Created.Unix() != created || config.Config.User != "65532:65532" ||
			!slices.Equal(config.Config.Entrypoint, []string{"/pingpost"}) || config.Config.Labels["org.opencontainers.image.version"] != "1.2.3-dev+abc" {
			t.Errorf("%s: %+v", architecture, config)
		}
		want := "etc/ 755 0\netc/ssl/ 755 0\netc/ssl/certs/ 755 0\netc/ssl/certs/ca-certificates.crt 644 0 certificates\n" +
			"pingpost 755 0 program for " + architecture + "\nvar/ 755 0\nvar/lib/ 755 0\nvar/lib/pingpost/ 700 65532\n"
		if got := listFiles(t, image); got != want {
			t.Errorf("%s has\n%swant\n%s", architecture, got, want)
		}
	}
}

// listFiles returns the files of an image's only layer, one a line: name, mode, owner, content.
func listFiles(t *testing.T, image v1.Image) string {
	t.Helper()
	layers := must.Value(image.Layers())(t)
	if len(layers) != 1 {
		t.Fatalf("%d layers", len(layers))
	}
	if kind := must.Value(layers[0].MediaType())(t); kind != types.OCILayer {
		t.Errorf("the layer's media type: %s", kind)
	}
	content := must.Value(layers[0].Uncompressed())(t)
	defer content.Close()
	var list strings.Builder
	for archive := tar.NewReader(content); ; {
		header, err := archive.Next()
		if err == io.EOF {
			return list.String()
		}
		must.Succeed(t, err)
		if header.Uid != header.Gid || header.ModTime.Unix() != created {
			t.Errorf("%+v", header)
		}
		fmt.Fprintln(&list, strings.TrimSpace(fmt.Sprintf("%s %o %d %s", header.Name, header.Mode, header.Uid, must.Value(io.ReadAll(archive))(t))))
	}
}

// TestLayoutIsReproducible: the same inputs give the same bytes.
func TestLayoutIsReproducible(t *testing.T) {
	read := func(name string) map[string]string {
		files := map[string]string{}
		must.Succeed(t, filepath.WalkDir(name, func(path string, entry os.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				text, err := os.ReadFile(path) //nolint:gosec // below the test's folder
				files[strings.TrimPrefix(path, name)] = string(text)
				return err
			}
			return err
		}))
		return files
	}
	first, second := read(writeImage(t)), read(writeImage(t))
	if len(first) != 9 || len(first) != len(second) { // oci-layout, two indexes, two times manifest, settings and layer
		t.Errorf("%d and %d files", len(first), len(second))
	}
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s differs between two runs", name)
		}
	}
}

// TestSettingsOfDockerfile: the image has the same settings as one that docker builds.
func TestSettingsOfDockerfile(t *testing.T) {
	text := string(must.Value(os.ReadFile("../Dockerfile"))(t))
	_, last, _ := strings.Cut(text, "\nFROM scratch\n")
	s := containerSettings("1.2.3")
	jsonOf := func(v any) string { return strings.ReplaceAll(string(must.Value(json.Marshal(v))(t)), ",", ", ") }
	for _, want := range []string{
		"USER " + s.User + "\n", "ENTRYPOINT " + jsonOf(s.Entrypoint) + "\n", "CMD " + jsonOf(s.Cmd) + "\n",
		fmt.Sprintf("HEALTHCHECK --interval=%v --timeout=%v --start-period=15m --retries=%d CMD %s\n", s.Healthcheck.Interval, s.Healthcheck.Timeout, s.Healthcheck.Retries, jsonOf(s.Healthcheck.Test[1:])),
	} {
		if !strings.Contains(last, want) {
			t.Errorf("the Dockerfile has no line %q", want)
		}
	}
	for volume := range s.Volumes {
		if !strings.Contains(last, "VOLUME "+volume+"\n") {
			t.Errorf("the Dockerfile has no volume %s", volume)
		}
	}
	for port := range s.ExposedPorts {
		if !strings.Contains(last, "EXPOSE "+strings.TrimSuffix(port, "/tcp")+"\n") {
			t.Errorf("the Dockerfile does not expose %s", port)
		}
	}
}

// TestUsageErrors: an incomplete command line writes no layout.
func TestUsageErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "layout")
	for _, args := range [][]string{
		{},
		{"-out", out, "-version", "1", "-created", "1"},
		{"-out", out, "-version", "1", "-created", "1", "-certificates", os.DevNull, "amd64"},
		{"-out", out, "-version", "1", "-created", "1", "-certificates", "missing.pem", "amd64=x"},
		{"-out", out, "-version", "1", "-created", "1", "-certificates", os.DevNull, "amd64=missing"},
	} {
		if err := run(args); err == nil {
			t.Errorf("%q is accepted", args)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a layout was written")
	}
}
