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

// listed has a suppression list that the file names and gives no contents.
const listed = recorded + "suppression_lists: [{id: dnc, field: phone}]\n"

func suppressing(config string) string {
	return strings.Replace(config, "    payout: {share: 0.8}", "    suppression: [dnc]\n    payout: {share: 0.8}", 1)
}

type uploaded struct{ Entries, Duplicates, Skipped uint64 }

// phones are a list's lines.
func phones(numbers ...int) string {
	var b strings.Builder
	for _, number := range numbers {
		fmt.Fprintf(&b, "+1%s%04d\n", areaCode, number)
	}
	return b.String()
}

// suppressed tells which of the first numbers' leads the list keeps from being sold.
func (r *running) suppressed(numbers int) (kept []int) {
	r.t.Helper()
	for number := range numbers {
		if strings.Contains(r.ingest(lead(number)).body, `"reason":"suppressed"`) {
			kept = append(kept, number)
		}
	}
	return kept
}

func (r *running) upload(query, body string) *answer {
	return r.operate("PUT", "/admin/v1/suppression/dnc"+query, body, "Content-Type", "text/plain")
}

func (r *running) listFiles() []string {
	r.t.Helper()
	return must.Value(filepath.Glob(filepath.Join(r.data(), "lists", "*")))(r.t) // hidden files too
}

// TestUploads: a list is replaced and added to, in force for the next lead, and still
// after a restart.
func TestUploads(t *testing.T) {
	x := start(t, newPlace(t, suppressing(listed)))
	expect := func(when string, a *answer, want uploaded, kept ...int) {
		t.Helper()
		if a.status != 200 || decode[uploaded](t, a) != want {
			t.Errorf("%s: %d %s, want %+v", when, a.status, a.body, want)
		}
		if got := x.suppressed(5); !slices.Equal(got, kept) {
			t.Errorf("%s: %v are suppressed, want %v", when, got, kept)
		}
	}
	if got := x.suppressed(5); len(got) > 0 {
		t.Fatalf("%v before any upload", got)
	}
	expect("at first", x.upload("", "# ours\n\n"+phones(0, 1, 1)), uploaded{2, 1, 2}, 0, 1)
	expect("added", x.upload("?mode=add", phones(1, 3)), uploaded{3, 1, 0}, 0, 1, 3)
	expect("replaced", x.upload("?mode=replace", phones(4)), uploaded{1, 0, 0}, 4)
	x = x.again()
	if got := x.suppressed(5); !slices.Equal(got, []int{4}) {
		t.Errorf("%v after a restart", got)
	}
	if files := x.listFiles(); len(files) != 1 {
		t.Errorf("files of before are left: %v", files)
	}
	expect("emptied", x.upload("", "#\n"), uploaded{0, 0, 1})
	x.upload("", "").mustFail(t, 422, "invalid_payload")
	x.upload("?mode=other", phones(1)).mustFail(t, 422, "invalid_payload")
	x.operate("PUT", "/admin/v1/suppression/none", phones(1)).mustFail(t, 404, "not_found")
	got := x.must(200, "GET", "/admin/v1/suppression", "").body
	for _, want := range []string{`"id":"dnc"`, `"field":"phone"`, `"hash":"plain"`, `"entries":0`, `"source":"upload"`, `"owner":"file"`, `"loaded_at":"2`} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
}

// TestBadUploads: the first lines that are no entries are named, without what is in
// them, and the list stays as it was.
func TestBadUploads(t *testing.T) {
	x := start(t, newPlace(t, suppressing(listed)))
	x.upload("", phones(2))
	seq, _ := x.log.Durable()
	files := x.listFiles()
	for name, row := range map[string]struct {
		body   string
		fields []string
	}{
		"two lines":    {phones(1) + "nobody\n#\n" + phones(3) + "12\n", []string{"line 2", "line 5"}},
		"a long line":  {phones(1) + strings.Repeat("1", 5000) + "\n" + phones(2), []string{"line 2"}},
		"the last one": {phones(1) + "x", []string{"line 2"}},
	} {
		f := x.upload("", row.body).mustFail(t, 422, "invalid_payload")
		var fields []string
		for _, field := range f.Fields {
			fields = append(fields, field.Field)
		}
		if !slices.Equal(fields, row.fields) {
			t.Errorf("%s: %v are named, want %v", name, fields, row.fields)
		}
	}
	if f := x.upload("", strings.Repeat("x\n", 100)).mustFail(t, 422, "invalid_payload"); len(f.Fields) != maxBadLines {
		t.Errorf("%d lines are named", len(f.Fields))
	}
	if after, _ := x.log.Durable(); after != seq || !slices.Equal(x.suppressed(4), []int{2}) || !slices.Equal(x.listFiles(), files) {
		t.Error("something changed")
	}
}

// halfway sends the head of an upload and a part of its body.
func (r *running) halfway(head, body string) net.Conn {
	r.t.Helper()
	conn := must.Value(net.Dial("tcp", r.AdminAddress()))(r.t)
	r.t.Cleanup(func() { conn.Close() })
	req := must.Value(http.NewRequest(http.MethodPut, "/", nil))(r.t)
	req.SetBasicAuth("operator", password)
	fmt.Fprintf(conn, "PUT /admin/v1/suppression/dnc HTTP/1.1\r\nHost: x\r\nAuthorization: %s\r\n%s\r\n\r\n%s", req.Header.Get("Authorization"), head, body)
	return conn
}

// begin sends a part of an upload, until it is under way: one that came while another
// asked whether it is was refused.
func (r *running) begin(head, body string) (conn net.Conn) {
	r.t.Helper()
	conn = r.halfway(head, body)
	eventually(r.t, "the upload has begun", func() bool {
		_ = conn.SetReadDeadline(time.Now().Add(time.Millisecond))
		if n, _ := conn.Read(make([]byte, 1)); n > 0 {
			conn.Close()
			conn = r.halfway(head, body)
		}
		return r.busyUploading()
	})
	return conn
}

// busyUploading tells whether an upload is under way. Where none is, its own changes
// nothing.
func (r *running) busyUploading() bool { return r.upload("", "x\n").status == 409 }

// manyLines are more than the library reads ahead of whoever takes a body.
func manyLines() string { return phones(slices.Repeat([]int{1, 3}, 1000)...) }

// TestBrokenUploads: one that breaks off, wherever and however it was announced, leaves
// the list, its file and the folder as they were; and the next one is taken.
func TestBrokenUploads(t *testing.T) {
	x := start(t, newPlace(t, suppressing(listed)))
	many := manyLines()
	for name, row := range map[string]struct{ head, body string }{
		"by length, amid a line":    {"Content-Length: 1000000", many + "+1646"},
		"by length, after a line":   {"Content-Length: 1000000", many},
		"in chunks, amid a chunk":   {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s", len(many)+9, many)},
		"in chunks, after a chunk":  {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n", len(many), many)},
		"in chunks, amid a size":    {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n1", len(many), many)},
		"in chunks, before the end": {"Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0", len(many), many)},
	} {
		t.Run(name, func(t *testing.T) {
			x.upload("", phones(2)).mustHave(t, 200)
			seq, _ := x.log.Durable()
			files := x.listFiles()
			x.begin(row.head, row.body).Close()
			eventually(t, "the next one is taken", func() bool { return x.upload("?mode=add", "#\n").status == 200 })
			if after, _ := x.log.Durable(); after != seq+1 {
				t.Errorf("%d entries were logged", after-seq-1)
			}
			if got := x.suppressed(4); !slices.Equal(got, []int{2}) || !slices.Equal(x.listFiles(), files) {
				t.Errorf("%v, files %v", got, x.listFiles())
			}
		})
	}
}

// TestChunkedUpload: one without a length is taken where it ends.
func TestChunkedUpload(t *testing.T) {
	x := start(t, newPlace(t, suppressing(listed)))
	lines := phones(1, 2)
	conn := x.halfway("Transfer-Encoding: chunked", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(lines), lines))
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must.Succeed(t, err)
	if a := hear(t, response); a.status != 200 || !slices.Equal(x.suppressed(4), []int{1, 2}) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestStopDuringUpload: a stop does not wait for an upload, and a kill during one leaves
// the list as it was.
func TestStopDuringUpload(t *testing.T) {
	p := newPlace(t, suppressing(listed))
	x := start(t, p)
	x.upload("", phones(2))
	x.begin("Content-Length: 1000000", manyLines())
	crashed := p.copy(t)
	must.Succeed(t, os.WriteFile(filepath.Join(crashed.data(), "lists", ".new-1"), []byte("half"), 0o600))
	began := time.Now()
	x = x.again()
	if took := time.Since(began); took > patience {
		t.Errorf("the stop took %s", took)
	}
	for name, x := range map[string]*running{"stopped": x, "killed": start(t, crashed)} {
		if got := x.suppressed(4); !slices.Equal(got, []int{2}) || len(x.listFiles()) != 1 {
			t.Errorf("%s: %v, files %v", name, got, x.listFiles())
		}
	}
}
