package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageInput is the input of an image.
type imageInput struct {
	version      string
	created      time.Time
	certificates []byte
	programs     []architectureProgram
}

// architectureProgram is the program for one architecture.
type architectureProgram struct {
	architecture string
	program      []byte
}

// userID is the user and the group of the process. The name "nonroot" has this number in
// other images too.
const userID = 65532

// writeLayout writes the layout into a new folder. Its index names one image, the index of all
// architectures, with the version as its name: tools such as skopeo refuse a layout with
// several images without names.
func (s *imageInput) writeLayout(folder string) error {
	if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // readable like a package
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, b := range s.programs {
		image, err := s.buildImage(b)
		if err != nil {
			return fmt.Errorf("image for %s: %w", b.architecture, err)
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: b.architecture}},
		})
	}
	path, err := layout.Write(folder, mutate.IndexMediaType(empty.Index, types.OCIImageIndex))
	if err != nil {
		return err
	}
	tag := strings.ReplaceAll(s.version, "+", "-") // a tag must not contain a plus sign
	return path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": tag,
		"io.containerd.image.name":          "pingpost:" + tag,
	}))
}

// buildImage returns the image for one architecture: one layer and the settings.
func (s *imageInput) buildImage(b architectureProgram) (v1.Image, error) {
	files, err := s.archiveOfFiles(b.program)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(
		func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil },
		tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithMediaType(types.OCILayer),
	)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{
		Created: v1.Time{Time: s.created}, CreatedBy: "pingpost/deploy/image",
	}})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", b.architecture, v1.Time{Time: s.created}
	config.Config = containerSettings(s.version)
	return mutate.ConfigFile(image, config)
}

// containerSettings returns the configuration of the image, the same as in ../Dockerfile.
func containerSettings(version string) v1.Config {
	return v1.Config{
		User:         fmt.Sprintf("%d:%d", userID, userID),
		Entrypoint:   []string{"/pingpost"},
		Cmd:          []string{"serve", "--config", "/etc/pingpost/pingpost.yaml"},
		Volumes:      map[string]struct{}{"/var/lib/pingpost": {}},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}},
		WorkingDir:   "/",
		Healthcheck: &v1.HealthConfig{
			Test:     []string{"CMD", "/pingpost", "health"},
			Interval: 10 * time.Second, Timeout: 10 * time.Second, StartPeriod: 15 * time.Minute, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title":    "pingpost",
			"org.opencontainers.image.version":  version,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
}

// archiveOfFiles returns the files of the image as a tar archive.
func (s *imageInput) archiveOfFiles(program []byte) ([]byte, error) {
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, f := range []struct {
		name    string
		mode    int64
		owner   int
		content []byte // nil: a folder
	}{
		{name: "etc/", mode: 0o755},
		{name: "etc/ssl/", mode: 0o755},
		{name: "etc/ssl/certs/", mode: 0o755},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, content: s.certificates},
		{name: "pingpost", mode: 0o755, content: program},
		{name: "var/", mode: 0o755},
		{name: "var/lib/", mode: 0o755},
		{name: "var/lib/pingpost/", mode: 0o700, owner: userID},
	} {
		header := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, Size: int64(len(f.content)),
			Uid: f.owner, Gid: f.owner, ModTime: s.created, Format: tar.FormatUSTAR,
		}
		if f.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
