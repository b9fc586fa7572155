package exchange

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pingpost/internal/must"
)

// listConfig has a suppression list without a file.
const listConfig = baseConfig + "suppression_lists: [{id: dnc, field: phone}]\n"

func withSuppression(config string) string {
	return strings.Replace(config, "    payout: {share: 0.8}", "    suppression: [dnc]\n    payout: {share: 0.8}", 1)
}

type uploadResult struct{ Entries, Duplicates, Skipped uint64 }

// phoneLines returns the lines of a list.
func phoneLines(numbers ...int) string {
	var b strings.Builder
	for _, number := range numbers {
		fmt.Fprintf(&b, "+1%s%04d\n", areaCode, number)
	}
	return b.String()
}

// suppressedLeads returns the numbers below n whose leads the list suppresses.
func (r *testExchange) suppressedLeads(numbers int) (suppressed []int) {
	r.t.Helper()
	for number := range numbers {
		if strings.Contains(r.ingest(leadBody(number)).body, `"reason":"suppressed"`) {
			suppressed = append(suppressed, number)
		}
	}
	return suppressed
}

func (r *testExchange) upload(query, body string) *answer {
	return r.adminRequest("PUT", "/admin/v1/suppression/dnc"+query, body, "Content-Type", "text/plain")
}

func (r *testExchange) listFiles() []string {
	r.t.Helper()
	return must.Value(filepath.Glob(filepath.Join(r.dataDir(), "lists", "*")))(r.t) // with hidden files
}

// TestListUploads: an upload replaces a list or adds to it, for the next lead and after a restart.
func TestListUploads(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, withSuppression(listConfig)))
	checkUpload := func(when string, a *answer, want uploadResult, suppressed ...int) {
		t.Helper()
		if a.status != 200 || decode[uploadResult](t, a) != want {
			t.Errorf("%s: %d %s, want %+v", when, a.status, a.body, want)
		}
		if got := x.suppressedLeads(5); !slices.Equal(got, suppressed) {
			t.Errorf("%s: %v are suppressed, want %v", when, got, suppressed)
		}
	}
	if got := x.suppressedLeads(5); len(got) > 0 {
		t.Fatalf("%v are suppressed before any upload", got)
	}
	checkUpload("at first", x.upload("", "# ours\n\n"+phoneLines(0, 1, 1)), uploadResult{2, 1, 2}, 0, 1)
	checkUpload("added", x.upload("?mode=add", phoneLines(1, 3)), uploadResult{3, 1, 0}, 0, 1, 3)
	checkUpload("replaced", x.upload("?mode=replace", phoneLines(4)), uploadResult{1, 0, 0}, 4)
	x = x.restart()
	if got := x.suppressedLeads(5); !slices.Equal(got, []int{4}) {
		t.Errorf("%v are suppressed after a restart", got)
	}
	if files := x.listFiles(); len(files) != 1 {
		t.Errorf("old list files are left: %v", files)
	}
	checkUpload("emptied", x.upload("", "#\n"), uploadResult{0, 0, 1})
	x.upload("", "").mustFail(t, 422, "invalid_payload")
	x.upload("?mode=other", phoneLines(1)).mustFail(t, 422, "invalid_payload")
	x.adminRequest("PUT", "/admin/v1/suppression/none", phoneLines(1)).mustFail(t, 404, "not_found")
	got := x.mustAdmin(200, "GET", "/admin/v1/suppression", "").body
	for _, want := range []string{`"id":"dnc"`, `"field":"phone"`, `"hash":"plain"`, `"entries":0`, `"source":"upload"`, `"owner":"file"`, `"loaded_at":"2`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestInvalidListUploads: the error names the first invalid lines without their text, and the list
// stays unchanged.
func TestInvalidListUploads(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, withSuppression(listConfig)))
	x.upload("", phoneLines(2))
	seq, _ := x.log.LastEntry()
	files := x.listFiles()
	for name, row := range map[string]struct {
		body   string
		fields []string
	}{
		"two lines":     {phoneLines(1) + "nobody\n#\n" + phoneLines(3) + "12\n", []string{"line 2", "line 5"}},
		"a long line":   {phoneLines(1) + strings.Repeat("1", 5000) + "\n" + phoneLines(2), []string{"line 2"}},
		"the last line": {phoneLines(1) + "x", []string{"line 2"}},
	} {
		f := x.upload("", row.body).mustFail(t, 422, "invalid_payload")
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
		if !slices.Equal(fields, row.fields) {
			t.Errorf("%s: error names %v, want %v", name, fields, row.fields)
		}
	}
	if f := x.upload("", strings.Repeat("x\n", 100)).mustFail(t, 422, "invalid_payload"); len(f.Fields) != maxBadLines {
		t.Errorf("error names %d lines", len(f.Fields))
	}
	if x.countChangesAfter(seq) != 0 || !slices.Equal(x.suppressedLeads(4), []int{2}) || !slices.Equal(x.listFiles(), files) {
		t.Error("an invalid upload changed the log, the list or its files")
	}
}

// sendPartialUpload sends the head of an upload and a part of its body.
func (r *testExchange) sendPartialUpload(head, body string) net.Conn {
	r.t.Helper()
	conn := must.Value(net.Dial("tcp", r.AdminAddress()))(r.t)
	r.t.Cleanup(func() { conn.Close() })
	req := must.Value(http.NewRequest(http.MethodPut, "/", nil))(r.t)
	req.SetBasicAuth("operator", adminPassword)
	fmt.Fprintf(conn, "PUT /admin/v1/suppression/dnc HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n%s\r\n\r\n%s", req.Header.Get("Authorization"), head, body)
	return conn
}

// startUpload sends a part of an upload until it is in progress. It repeats an upload that
// isUploading's own request blocked.
func (r *testExchange) startUpload(head, body string) (conn net.Conn) {
	r.t.Helper()
	conn = r.sendPartialUpload(head, body)
	eventually(r.t, "the upload is in progress", func() bool {
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if n, _ := conn.Read(make([]byte, 1)); n > 0 {
			conn.Close()
			conn = r.sendPartialUpload(head, body)
		}
		return r.isUploading()
	})
	return conn
}

// isUploading reports whether an upload is in progress. Its own upload has no effect.
func (r *testExchange) isUploading() bool { return r.upload("", "x\n").status == 409 }

// largeUpload returns more lines than the HTTP library reads ahead.
func largeUpload() string { return phoneLines(slices.Repeat([]int{1, 3}, 1000)...) }

// TestAbortedListUploads: an upload that breaks off at any point changes neither the list nor a
// file, and the next one succeeds.
func TestAbortedListUploads(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, withSuppression(listConfig)))
	many := largeUpload()
	for name, row := range map[string]struct{ head, body string }{
		"by length, within a line":  {"Content-Length: 1000000", many + "+1646"},
		"by length, after a line":   {"Content-Length: 1000000", many},
		"in chunks, within a chunk": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(many)+9, many)},
		"in chunks, after a chunk":  {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(many), many)},
		"in chunks, within a size":  {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n1", len(many), many)},
		"in chunks, before the end": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0", len(many), many)},
	} {
		t.Run(name, func(t *testing.T) {
			x.upload("", phoneLines(2)).mustHave(t, 200)
			seq, _ := x.log.LastEntry()
			files := x.listFiles()
			x.startUpload(row.head, row.body).Close()
			eventually(t, "the next upload succeeds", func() bool { return x.upload("?mode=add", "#\n").status == 200 })
			if n := x.countChangesAfter(seq); n != 1 {
				t.Errorf("aborted upload added %d log entries", n-1)
			}
			if got := x.suppressedLeads(4); !slices.Equal(got, []int{2}) || !slices.Equal(x.listFiles(), files) {
				t.Errorf("%v, files %v", got, x.listFiles())
			}
		})
	}
}

func TestChunkedListUpload(t *testing.T) {
	t.Parallel()
	x := start(t, newTestDir(t, withSuppression(listConfig)))
	lines := phoneLines(1, 2)
	conn := x.sendPartialUpload("Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(lines), lines))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.Succeed(t, err)
	if a := readAnswer(t, response); a.status != 200 || !slices.Equal(x.suppressedLeads(4), []int{1, 2}) {
		t.Errorf("chunked upload: got %d %s", a.status, a.body)
	}
}

// TestStopDuringListUpload: a stop does not wait for an upload, and a crash during one leaves the
// list unchanged.
func TestStopDuringListUpload(t *testing.T) {
	t.Parallel()
	p := newTestDir(t, withSuppression(listConfig))
	x := start(t, p)
	x.upload("", phoneLines(2))
	x.startUpload("Content-Length: 1000000", largeUpload())
	crashed := p.copyFiles(t)
	must.Succeed(t, os.WriteFile(filepath.Join(crashed.dataDir(), "lists", ".new-1"), []byte("half"), 0o600))
	began := time.Now()
	x = x.restart()
	if took := time.Since(began); took > waitTimeout {
		t.Errorf("the stop took %s", took)
	}
	for name, x := range map[string]*testExchange{"stopped": x, "killed": start(t, crashed)} {
		if got := x.suppressedLeads(4); !slices.Equal(got, []int{2}) || len(x.listFiles()) != 1 {
			t.Errorf("%s: %v, files %v", name, got, x.listFiles())
		}
	}
}
