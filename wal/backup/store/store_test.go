package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"pingpost/internal/must"
)

// bucket is an S3 service in this process, over TLS: over plain HTTP the client
// signs bodies in pieces, which the service cannot read.
func bucket(t testing.TB, prefix string) *S3 {
	t.Helper()
	backend := s3mem.New()
	must.Succeed(t, backend.CreateBucket("backups"))
	service := httptest.NewTLSServer(gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server())
	t.Cleanup(service.Close)
	return must.Value(openS3("s3://backups/"+prefix+"?region=us-east-1&endpoint="+service.URL, credentialsOf, service.Client().Transport))(t)
}

func credentialsOf(name string) (string, bool) {
	value, ok := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "canary-of-a-secret"}[name]
	return value, ok
}

func folder(t testing.TB) *Dir {
	t.Helper()
	return must.Value(OpenDir(filepath.Join(t.TempDir(), "backups")))(t)
}

// each runs a test with every kind of store.
func each(t *testing.T, test func(t *testing.T, s Store)) {
	t.Run("folder", func(t *testing.T) { test(t, folder(t)) })
	t.Run("bucket", func(t *testing.T) { test(t, bucket(t, "")) })
	t.Run("folder of a bucket", func(t *testing.T) { test(t, bucket(t, "a/b")) })
}

func names(t testing.TB, s Store, folder string) string {
	t.Helper()
	objects := must.Value(s.List(t.Context(), folder))(t)
	var all []string
	for _, object := range objects {
		if object.Modified.IsZero() {
			t.Errorf("%s has no time", object.Name)
		}
		all = append(all, fmt.Sprintf("%s:%d", object.Name, object.Size))
	}
	return strings.Join(all, " ")
}

func TestObjects(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		ctx := t.Context()
		large := bytes.Repeat([]byte("0123456789abcdef"), 9<<20/16)
		for _, object := range []struct {
			name string
			data []byte
		}{{"gen/2/log/1", []byte("one")}, {"gen/1/log/1", nil}, {"gen/2/whole", []byte("{}")}, {"large", large}, {"gen/2/log/1", []byte("other")}} {
			must.Succeed(t, s.Put(ctx, object.name, object.data))
			if got, err := s.Get(ctx, object.name); err != nil || !bytes.Equal(got, object.data) {
				t.Fatalf("%s: %d bytes, %v, want %d", object.name, len(got), err, len(object.data))
			}
		}
		for folder, want := range map[string]string{
			"": "gen/1/log/1:0 gen/2/log/1:5 gen/2/whole:2 large:9437184", "gen": "gen/1/log/1:0 gen/2/log/1:5 gen/2/whole:2",
			"gen/2/log": "gen/2/log/1:5", "gen/2/lo": "", "none": "",
		} {
			if got := names(t, s, folder); got != want {
				t.Errorf("below %q: %s, want %s", folder, got, want)
			}
		}
		if _, err := s.Get(ctx, "gen/3"); !errors.Is(err, ErrNotFound) {
			t.Errorf("what is not there: %v", err)
		}
		must.Succeed(t, s.Delete(ctx, "gen/2/log/1", "gen/2/whole", "never"))
		if got := names(t, s, "gen"); got != "gen/1/log/1:0" {
			t.Errorf("after a delete: %s", got)
		}
	})
}

func TestOfSeveralOneCreates(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		var wait sync.WaitGroup
		results := make([]error, 8)
		for i := range results {
			wait.Go(func() { results[i] = s.Create(t.Context(), "claims/1", []byte{byte(i)}) })
		}
		wait.Wait()
		winner := slices.Index(results, nil)
		for i, err := range results {
			if (i == winner) != (err == nil) || err != nil && !errors.Is(err, ErrExists) {
				t.Errorf("number %d: %v", i, err)
			}
		}
		if got, err := s.Get(t.Context(), "claims/1"); err != nil || len(got) != 1 || int(got[0]) != winner {
			t.Errorf("%v, %v, want %d", got, err, winner)
		}
		if err := s.Create(t.Context(), "claims/1", []byte{byte(winner)}); err != nil {
			t.Errorf("a request that is repeated: %v", err)
		}
	})
}

func TestEndedContext(t *testing.T) {
	each(t, func(t *testing.T, s Store) {
		must.Succeed(t, s.Put(t.Context(), "a/b", []byte("x")))
		ctx, end := context.WithCancel(t.Context())
		end()
		_, got := s.Get(ctx, "a/b")
		_, listed := s.List(ctx, "")
		for what, err := range map[string]error{
			"put": s.Put(ctx, "n", nil), "create": s.Create(ctx, "n", nil), "get": got, "list": listed, "delete": s.Delete(ctx, "a/b"),
		} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if got := names(t, s, ""); got != "a/b:1" {
			t.Errorf("there is %s", got)
		}
	})
}

// Backups contain personal data, so only the owner can read the folder.
func TestFolderIsPrivateAndClean(t *testing.T) {
	d := folder(t)
	must.Succeed(t, d.Put(t.Context(), "a/b/c", []byte("x")))
	for path, want := range map[string]os.FileMode{"": 0o700, "a": 0o700, "a/b": 0o700, "a/b/c": 0o600} {
		info, err := os.Stat(d.path(path))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", path, info.Mode(), err)
		}
	}
	stale, fresh := filepath.Join(d.root, unfinished, "stale"), filepath.Join(d.root, unfinished, "fresh")
	for _, path := range []string{stale, fresh} {
		must.Succeed(t, os.WriteFile(path, nil, 0o600))
	}
	must.Succeed(t, os.Chtimes(stale, time.Time{}, time.Now().Add(-2*staleAfter)))
	must.Value(OpenDir(d.root))(t)
	left, err := os.ReadDir(filepath.Join(d.root, unfinished))
	if err != nil || len(left) != 1 || left[0].Name() != "fresh" {
		t.Errorf("left %v, %v", left, err)
	}
	if got := names(t, d, ""); got != "a/b/c:1" {
		t.Errorf("it lists %s", got)
	}
	must.Succeed(t, d.Delete(t.Context(), "a/b/c"))
	if _, err := os.Stat(d.path("a")); !os.IsNotExist(err) {
		t.Errorf("an empty folder stays: %v", err)
	}
}

func TestFolderThatCannotBeWritten(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	if _, err := OpenDir(filepath.Join(file, "below")); err == nil {
		t.Error("a file was taken for a folder")
	}
	d := must.Value(OpenDir(root))(t)
	if err := d.Put(t.Context(), "file/below", nil); err == nil {
		t.Error("something was put below a file")
	}
}

// Create detects a service that ignores If-None-Match if another claim exists.
func TestServiceWithoutConditions(t *testing.T) {
	backend := s3mem.New()
	must.Succeed(t, backend.CreateBucket("backups"))
	inner := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	var after func()
	service := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("If-None-Match")
		inner.ServeHTTP(w, r)
		if r.Method == http.MethodPut && after != nil {
			next := after
			after = nil
			next()
		}
	}))
	defer service.Close()
	s := must.Value(openS3("s3://backups?region=us-east-1&endpoint="+service.URL, credentialsOf, service.Client().Transport))(t)
	after = func() { _ = s.Put(t.Context(), "claim", []byte("theirs")) }
	if err := s.Create(t.Context(), "claim", []byte("ours")); !errors.Is(err, ErrExists) {
		t.Errorf("two have claimed one place: %v", err)
	}
}

func TestPlaces(t *testing.T) {
	env := func(name string) (string, bool) {
		if name == "PINGPOST_S3_ENDPOINT" {
			return "https://storage.example", true
		}
		return credentialsOf(name)
	}
	dir := t.TempDir()
	for place, want := range map[string]string{
		filepath.Join(dir, "b"): filepath.Join(dir, "b"), "s3://b": "s3://b/", "s3://b/p/q/": "s3://b/p/q",
		"s3://b/p?endpoint=http://127.0.0.1:9000&region=eu": "s3://b/p",
		"s3:///p": "cannot parse", "s3://id:secret@b": "cannot parse", "https://b/p": "not a place", "s3:/b/p": "write s3://bucket/prefix", "s3:b": "write s3://bucket/prefix", "s3://b?endpoint=host": "not an address",
		"s3://b?endpoint=https://host/path": "not an address", "s3://b?secret=1": "accepts ?endpoint=",
	} {
		s, err := Open(place, env)
		got := fmt.Sprint(err)
		if err == nil {
			got = s.String()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "secret@") {
			t.Errorf("%s: %s, want %s", place, got, want)
		}
	}
	for place, want := range map[string]string{"/b/": "/b/t", "s3://b/p?region=x": "s3://b/p/t?region=x", "/odd?name": "/odd?name/t"} {
		if got := JoinPlace(place, "t"); got != want {
			t.Errorf("below %s: %s, want %s", place, got, want)
		}
	}
}

// OpenExisting changes no file in a folder. A copied folder without its empty subfolders
// is writable.
func TestFindingMakesNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.Succeed(t, os.WriteFile(file, nil, 0o600))
	for place, want := range map[string]string{filepath.Join(dir, "none"): "no such file", file: "is a file", "s3:/b": "write s3://"} {
		if s, err := OpenExisting(place, credentialsOf); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v %v, want %s", place, s, err, want)
		}
	}
	bare := filepath.Join(dir, "bare")
	must.Succeed(t, os.Mkdir(bare, 0o700))
	s := must.Value(OpenExisting(bare, credentialsOf))(t)
	if in, err := os.ReadDir(bare); err != nil || len(in) > 0 {
		t.Errorf("finding it made %v, %v", in, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "none")); err == nil {
		t.Error("looking for a folder made it")
	}
	if err := s.Put(t.Context(), "name", []byte("x")); err != nil {
		t.Error(err)
	}
}

// Errors of the service contain no credentials.
func TestErrorsNameNoSecret(t *testing.T) {
	s := bucket(t, "p")
	s.bucket = "missing"
	_, got := s.Get(t.Context(), "a")
	_, listed := s.List(t.Context(), "")
	for what, err := range map[string]error{"put": s.Put(t.Context(), "a", nil), "create": s.Create(t.Context(), "a", nil), "get": got, "list": listed} {
		if err == nil || strings.Contains(err.Error(), "canary") || !strings.Contains(err.Error(), "s3://missing/p") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Create reports ErrExists for an object that is removed before Create can read it.
func TestCreateMeetsARemovedObject(t *testing.T) {
	d := must.Value(OpenDir(t.TempDir()))(t)
	if err := checkOwnObject(t.Context(), d, "fence/1", []byte("ours")); !errors.Is(err, ErrExists) {
		t.Errorf("%v, want ErrExists", err)
	}
}
