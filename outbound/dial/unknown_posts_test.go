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

// postsPerSecond is the rate at which TestUnknownPostsAreRare posts to each endpoint.
const postsPerSecond = 50

// TestUnknownPostsAreRare sends posts at random moments. Some endpoints close each
// connection after it was idle for a random time of up to 5 s; the others close none. One
// client keeps idle connections for posts for a second, another one for 30 s. The result
// of a post is unknown if it was sent and has no answer. The command below sends 30,000
// posts to each endpoint, in ten minutes. Run it on an idle machine: an endpoint that
// waits for a processor reads a post later, and may close the connection before.
//
//	UNKNOWN_POSTS=30000 go test -v -run TestUnknownPostsAreRare -parallel 8 -timeout 30m ./outbound/dial
func TestUnknownPostsAreRare(t *testing.T) {
	posts, _ := strconv.Atoi(os.Getenv("UNKNOWN_POSTS"))
	if posts <= 0 {
		t.Skip("a measurement of minutes; UNKNOWN_POSTS=30000 runs it")
	}
	certificate := httptest.NewTLSServer(nil)
	t.Cleanup(certificate.Close) // after the parallel tests
	for _, secure := range []bool{false, true} {
		for _, closes := range []bool{false, true} {
			for _, fresh := range []time.Duration{30 * time.Second, time.Second} {
				name := "TLS " + strconv.FormatBool(secure) + ", closes " + strconv.FormatBool(closes) + ", kept for " + fresh.String()
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					scheme, hosts := "http://", newHosts(t, nil)
					if secure {
						scheme, hosts = "https://", newTLSHosts(t, certificate)
					}
					hosts.options.IdleTimeout, hosts.options.PostIdleTimeout = 30*time.Second, fresh
					unknown, times := sendPosts(findTarget(t, hosts, scheme+startClosing(t, secure, closes)+"/"), posts)
					slices.Sort(times)
					t.Logf("%d of %d posts have an unknown result; p50 %v, p90 %v", unknown, posts, times[posts/2], times[posts*9/10])
					if fresh == time.Second && unknown*10_000 > posts {
						t.Errorf("more than 1 in 10,000 posts has an unknown result")
					}
				})
			}
		}
	}
}

// sendPosts sends posts, each in a goroutine. It returns how many have an unknown result,
// and the duration of each post.
func sendPosts(target *Target, posts int) (unknown int, times []time.Duration) {
	var mu sync.Mutex
	var sending sync.WaitGroup
	for range posts {
		time.Sleep(time.Duration(rand.ExpFloat64() * float64(time.Second) / postsPerSecond))
		sending.Go(func() {
			var response fasthttp.Response
			began := time.Now()
			done := target.Send(newRequest(began.Add(longTimeout)), &response)
			took := time.Since(began)
			mu.Lock()
			defer mu.Unlock()
			times = append(times, took)
			if done.Sent && done.Status == 0 {
				unknown++
			}
		})
	}
	sending.Wait()
	return unknown, times
}

// startClosing starts an endpoint in a separate process and returns its address. In one
// process with the client, the runtime would fire timers that are up to a millisecond late
// when the client writes, which is exactly the moment at which a close does harm.
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
	t.Cleanup(func() { _ = endpoint.Wait() }) // the test's context ends the process
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
		t.Skip("a process of TestUnknownPostsAreRare")
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

// answerPosts answers posts. If closes is set, it closes the connection after it was idle
// for a random time of up to 5 s.
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
		if _, err := io.WriteString(conn, dialtest.Response("201 Created", `{}`)); err != nil {
			return
		}
	}
}
