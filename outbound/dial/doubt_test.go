package dial

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/valyala/fasthttp"

	"pingpost/outbound/dial/dialtest"
)

// postRate is how many posts a second TestDoubtIsRare sends to each endpoint.
const postRate = 50

// TestDoubtIsRare sends posts at random moments to endpoints that close each connection
// after it was unused for a random time of up to 5 s, and to endpoints that close none.
// One client keeps connections for posts for a second, another one for 30 s. A post is
// doubtful if it was sent and has no answer. Without DOUBT_POSTS the test is skipped.
// This sends 30,000 posts to each endpoint, in ten minutes. Run it on an idle
// machine: an endpoint that waits for a processor reads a post later, and may close the
// connection before.
//
//	DOUBT_POSTS=30000 go test -v -run TestDoubtIsRare -parallel 8 -timeout 30m ./outbound/dial
func TestDoubtIsRare(t *testing.T) {
	posts, _ := strconv.Atoi(os.Getenv("DOUBT_POSTS"))
	if posts <= 0 {
		t.Skip("a measurement of minutes; DOUBT_POSTS=30000 runs it")
	}
	certificate := httptest.NewTLSServer(nil)
	t.Cleanup(certificate.Close) // after the parallel tests
	for _, secure := range []bool{false, true} {
		for _, closes := range []bool{false, true} {
			for _, fresh := range []time.Duration{30 * time.Second, time.Second} {
				name := "TLS " + strconv.FormatBool(secure) + ", closes " + strconv.FormatBool(closes) + ", kept for " + fresh.String()
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					scheme, hosts := "http://", open(t, nil)
					if secure {
						scheme, hosts = "https://", trusting(t, certificate)
					}
					hosts.options.Idle, hosts.options.Fresh = 30*time.Second, fresh
					doubtful, times := sendPosts(find(t, hosts, scheme+startClosing(t, secure, closes)+"/"), posts)
					slices.Sort(times)
					t.Logf("%d of %d posts are doubtful; p50 %v, p90 %v", doubtful, posts, times[posts/2], times[posts*9/10])
					if fresh == time.Second && doubtful*10_000 > posts {
						t.Errorf("more than 1 in 10,000 posts is doubtful")
					}
				})
			}
		}
	}
}

// sendPosts sends posts, each in a goroutine, and returns how many are doubtful and how
// long each one took.
func sendPosts(target *Target, posts int) (doubtful int, times []time.Duration) {
	var mu sync.Mutex
	var sending sync.WaitGroup
	for range posts {
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(time.Second) / postRate))
		sending.Go(func() {
			var response fasthttp.Response
			began := time.Now()
			done := target.Send(anything(began.Add(ample)), &response)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took)
			if done.Sent && done.Status == 0 {
				doubtful++
			}
		})
	}
	sending.Wait()
	return doubtful, times
}

// startClosing starts an endpoint in a process of its own, and returns its address. In
// one process with the client, the runtime fires timers that are up to a millisecond
// late when the client writes. That is the moment at which they do harm.
func startClosing(t *testing.T, secure, closes bool) (address string) {
	t.Helper()
	endpoint := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestClosingEndpoint$", "-test.timeout=0")
	endpoint.Env = append(os.Environ(), "CLOSING_ENDPOINT="+fmt.Sprintf("%t %t", secure, closes))
	out, err := endpoint.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := endpoint.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = endpoint.Wait() }) // the test's context ends it
	address, err = bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// TestClosingEndpoint is the process of startClosing. It answers one post in ten after up
// to 100 ms and the others at once.
func TestClosingEndpoint(t *testing.T) {
	var secure, closes bool
	if _, err := fmt.Sscan(os.Getenv("CLOSING_ENDPOINT"), &secure, &closes); err != nil {
		t.Skip("a process of TestDoubtIsRare")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(listener.Addr())
	if secure {
		certificate := httptest.NewTLSServer(nil)
		defer certificate.Close()
		listener = tls.NewListener(listener, certificate.TLS)
	}
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go answerPosts(conn, closes)
	}
}

// answerPosts closes the connection after it was unused for a random time of up to 5 s,
// if it is to close connections.
func answerPosts(conn net.Conn, closes bool) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	for {
		if closes {
			_ = conn.SetReadDeadline(time.Now().Add(rand.N(5 * time.Second)))
		}
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		if rand.N(10) == 0 {
			time.Sleep(rand.N(100 * time.Millisecond))
		}
		if _, err := io.WriteString(conn, dialtest.Message("201 Created", `{}`)); err != nil {
			return
		}
	}
}
