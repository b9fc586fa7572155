package member

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/cluster/datacopy"
	"pingpost/internal/must"
	"pingpost/wal"
)

// newSender returns a member that can only send copies of its data. A copy has about 64 KiB.
func newSender(t *testing.T) *Member {
	t.Helper()
	dir := t.TempDir()
	log := must.Value(wal.OpenReplica(dir, wal.Options{}))(t)
	t.Cleanup(func() { must.Succeed(t, log.Close()) })
	_, _, err := log.AppendBatch(1, [][]byte{[]byte("lead")})
	must.Succeed(t, err)
	must.Succeed(t, os.Mkdir(filepath.Join(dir, "lists"), 0o700))
	must.Succeed(t, os.WriteFile(filepath.Join(dir, "lists", "a"), []byte(strings.Repeat("x", 64<<10)), 0o600))
	return &Member{opt: Options{Settings: Settings{Node: "a", Listen: "127.0.0.1:0", DataDir: dir, Logger: slog.New(slog.DiscardHandler)}, Log: log}}
}

// checkingWriter calls check before each write, and discards the bytes.
type checkingWriter struct{ check func() }

func (w checkingWriter) Write(p []byte) (int, error) {
	w.check()
	return len(p), nil
}

// TestRaftLogIsKeptForNewNode: a node that copies the data is no member yet, and needs the entries after the
// copy. So Raft's log stays during the copy, and until the node had the time to join.
func TestRaftLogIsKeptForNewNode(t *testing.T) {
	t.Parallel()
	m := newSender(t)
	var err error
	m.network, m.registry, err = openNetwork(&m.opt.Settings, [16]byte{}, nil)
	must.Succeed(t, err)
	defer func() { must.Succeed(t, m.network.Close()) }()
	mayCompact := m.nodeOptions().MayCompact
	synctest.Test(t, func(t *testing.T) {
		check := func(when string, want error) {
			if err := mayCompact(1); !errors.Is(err, want) {
				t.Errorf("%s the Raft log may be shortened: %v, want %v", when, err, want)
			}
		}
		check("before a copy", nil)
		writes := 0
		must.Succeed(t, m.SendCopy(checkingWriter{func() {
			writes++
			check("during a copy", errNodeCopies)
			time.Sleep(time.Hour)
		}}))
		if writes == 0 {
			t.Error("the copy is empty")
		}
		check("after a copy", errNodeCopies)
		time.Sleep(keepLogAfterCopy - time.Minute)
		check("after 29 minutes", errNodeCopies)
		time.Sleep(2 * time.Minute)
		check("after 31 minutes", nil)
	})
}

// serverWriteTimeout is shorter than each copy of the tests, as server/forward's is for the data of an exchange.
const serverWriteTimeout = 2 * time.Minute

// requestCopy asks the member for a copy, and returns the connection. ended gets the server's error.
func requestCopy(t *testing.T, m *Member) (client net.Conn, ended chan error) {
	t.Helper()
	server := &fasthttp.Server{Handler: m.RequestHandlers()[pathCopy], WriteTimeout: serverWriteTimeout, NoDefaultDate: true}
	near, far := net.Pipe()
	ended = make(chan error, 1)
	go func() { ended <- server.ServeConn(far) }()
	must.Value(io.WriteString(near, "GET /copy HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"))(t)
	return near, ended
}

// slowReader reads a part of the answer every 15 seconds. The server sends a piece in two parts.
type slowReader struct{ io.Reader }

func (r slowReader) Read(p []byte) (int, error) {
	time.Sleep(copyIdleTime / 4)
	return r.Reader.Read(p)
}

// TestLongCopyIsNotCut: a copy may take longer than the server's deadline for an answer.
func TestLongCopyIsNotCut(t *testing.T) {
	t.Parallel()
	m, to := newSender(t), t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		client, ended := requestCopy(t, m)
		defer client.Close()
		answer := must.Value(http.ReadResponse(bufio.NewReaderSize(slowReader{client}, 64<<10), nil))(t) //nolint:bodyclose // the linter does not see through must.Value
		defer answer.Body.Close()
		must.Succeed(t, datacopy.Receive(answer.Body, to))
		must.Value(io.Copy(io.Discard, answer.Body))(t)
		must.Succeed(t, <-ended)
		if took := time.Since(began); took < 2*serverWriteTimeout {
			t.Errorf("the copy took only %v", took)
		}
	})
}

// TestCopyThatIsNotReadIsCut: a new node that hangs does not keep the Raft log, which would fill the disk.
func TestCopyThatIsNotReadIsCut(t *testing.T) {
	t.Parallel()
	m := newSender(t)
	synctest.Test(t, func(t *testing.T) {
		client, ended := requestCopy(t, m)
		defer client.Close()
		began := time.Now()
		var timeout net.Error
		if err := <-ended; !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(began) > 2*copyIdleTime {
			t.Errorf("after %v: %v, want a timeout after %v", time.Since(began), err, copyIdleTime)
		}
		synctest.Wait()
		if n := m.copies.Load(); n != 0 {
			t.Errorf("%d copies, want 0", n)
		}
	})
}
