package cluster

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pingpost/internal/must"
	"pingpost/wal"
)

// process is a node in a separate process: this test's program with CLUSTER_TEST_NODE set. The test
// talks to it in lines over a connection.
type process struct {
	t                *testing.T
	id, dir          string
	address, control string // of Raft, and of the test's connections
	cmd              *exec.Cmd
}

// runNode is the main function of a node's process. Its argument is "id dir raftAddress controlAddress".
func runNode(argument string) int {
	var id, dir, address, control string
	if _, err := fmt.Sscan(argument, &id, &dir, &address, &control); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if err := serveNode(id, dir, address, control); err != nil {
		fmt.Fprintln(os.Stderr, id, err)
		return 1
	}
	return 0
}

func serveNode(id, dir, address, control string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	log, err := wal.OpenReplica(dir, wal.Options{})
	if err != nil {
		return err
	}
	machine := new(leads)
	reader, err := log.NewReader(1)
	if err != nil {
		return err
	}
	for last, _ := log.LastEntry(); uint64(len(machine.applied)) < last; {
		e, err := reader.Next()
		if err != nil {
			return err
		}
		if err := machine.add(e.Seq, e.Data); err != nil {
			return err
		}
	}
	node, err := Start(Options{
		ID: id, Dir: filepath.Join(dir, "raft"), DataDir: dir, Listener: listener,
		Address: address, Dial: func(_, address string, timeout time.Duration) (net.Conn, error) {
			return net.DialTimeout("tcp", address, timeout)
		},
		Log: log, StateMachine: machine, Roles: noRoles{}, Now: func() int64 { return time.Now().UnixNano() },
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return err
	}
	controls, err := net.Listen("tcp", control)
	if err != nil {
		return err
	}
	for {
		conn, err := controls.Accept()
		if err != nil {
			return err
		}
		go serveControl(conn, node, machine)
	}
}

type noRoles struct{}

func (noRoles) Lead(*Log) {}
func (noRoles) Follow()   {}

// serveControl answers the lines of one connection of the test.
func serveControl(conn net.Conn, node *Node, machine *leads) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		verb, rest, _ := strings.Cut(lines.Text(), " ")
		var err error
		switch verb {
		case "bootstrap":
			err = node.Bootstrap()
		case "add":
			id, address, _ := strings.Cut(rest, " ")
			err = node.Add(id, address)
		case "put":
			c := &commit{machine: machine, data: []byte(rest), done: make(chan error, 1)}
			if err = node.appendEntry(c.data, c); err == nil {
				err = <-c.done
			}
		case "lease":
			if !node.HoldsLease() {
				err = ErrNotLeader
			}
		case "members":
			fmt.Fprintln(conn, len(node.raft.GetConfiguration().Configuration().Servers))
			continue
		case "list":
			list := machine.list()
			fmt.Fprintln(conn, len(list), strings.Join(list, " "))
			continue
		}
		switch {
		case err == nil:
			fmt.Fprintln(conn, "ok")
		case errors.Is(err, ErrUnknown):
			fmt.Fprintln(conn, "unknown")
		default:
			fmt.Fprintln(conn, "refused", err)
		}
	}
}

func (p *process) start() {
	p.t.Helper()
	p.cmd = exec.Command(must.Value(os.Executable())(p.t))
	p.cmd.Env = append(os.Environ(), fmt.Sprintf("CLUSTER_TEST_NODE=%s %s %s %s", p.id, p.dir, p.address, p.control))
	p.cmd.Stderr = os.Stderr
	must.Succeed(p.t, p.cmd.Start())
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // the error is that it was killed
}

// ask sends a line on a new connection and returns the answer. An error means that no answer came in time.
func (p *process) ask(line string) (string, error) {
	conn, err := net.DialTimeout("tcp", p.control, time.Second)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		return "", err
	}
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(answer), err
}

func startProcesses(t *testing.T) []*process {
	t.Helper()
	var all []*process
	for _, id := range []string{"a", "b", "c"} {
		p := &process{t: t, id: id, dir: t.TempDir(), address: freeAddress(t), control: freeAddress(t)}
		p.start()
		t.Cleanup(p.kill)
		all = append(all, p)
	}
	awaitTrue(t, "the first node starts", func() bool { answer, _ := all[0].ask("bootstrap"); return answer == "ok" })
	for _, p := range all[1:] {
		awaitTrue(t, "node "+p.id+" is a member", func() bool {
			answer, _ := all[0].ask("add " + p.id + " " + p.address)
			return answer == "ok"
		})
	}
	for _, p := range all {
		awaitTrue(t, "node "+p.id+" knows the members", func() bool { answer, _ := p.ask("members"); return answer == "3" })
	}
	return all
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l := must.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	return l.Addr().String()
}

// putSomewhere repeats an entry at the nodes until one has committed it. It returns that node, and whether
// an earlier result was unknown: then the entry may exist twice.
func putSomewhere(nodes []*process, data string) (leader *process, unknown bool) {
	for {
		for _, p := range nodes {
			answer, err := p.ask("put " + data)
			if err == nil && answer == "ok" {
				return p, unknown
			}
			unknown = unknown || answer == "unknown" || err != nil && !errors.Is(err, syscall.ECONNREFUSED)
		}
		time.Sleep(time.Millisecond)
	}
}

func takeovers(t *testing.T) int {
	if n := os.Getenv("TAKEOVERS"); n != "" {
		var count int
		must.Value(fmt.Sscan(n, &count))(t)
		return count
	}
	return 5
}

// TestTakeoverAfterKill kills the leader's process again and again (SIGKILL), and suspends it in every
// other round (SIGSTOP) instead. It prints the time until the next leader has committed an entry. A node
// that was suspended does not hold the lease when it continues. At the end all acknowledged entries exist
// on all nodes, once. TAKEOVERS sets the number of rounds.
func TestTakeoverAfterKill(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for a minute")
	}
	nodes := startProcesses(t)
	var took []time.Duration
	maybeTwice := map[string]bool{}
	put := func(data string) *process {
		leader, unknown := putSomewhere(nodes, data)
		maybeTwice[data] = unknown
		return leader
	}
	for round := range takeovers(t) {
		leader := put(fmt.Sprintf("before-%d", round))
		others := slices.DeleteFunc(slices.Clone(nodes), func(p *process) bool { return p == leader })
		suspend := round%2 == 1
		began := time.Now()
		if suspend {
			must.Succeed(t, leader.cmd.Process.Signal(syscall.SIGSTOP))
		} else {
			leader.kill()
		}
		data := fmt.Sprintf("after-%d", round)
		_, maybeTwice[data] = putSomewhere(others, data)
		took = append(took, time.Since(began))
		if suspend {
			must.Succeed(t, leader.cmd.Process.Signal(syscall.SIGCONT))
			if answer, err := leader.ask("lease"); err != nil || answer == "ok" {
				t.Errorf("the suspended leader holds the lease when it continues: %q, %v", answer, err)
			}
		} else {
			leader.start()
			awaitTrue(t, "the killed node is back", func() bool { answer, _ := leader.ask("members"); return answer == "3" })
		}
	}
	slices.Sort(took)
	t.Logf("time until the next leader committed: median %v, longest %v", took[len(took)/2], took[len(took)-1])
	put("last")
	checkEqualLists(t, nodes, maybeTwice)
}

// checkEqualLists waits until the nodes have the same entries, and checks that each exists once.
func checkEqualLists(t *testing.T, nodes []*process, maybeTwice map[string]bool) {
	t.Helper()
	var list string
	awaitTrue(t, "all nodes have the same entries", func() bool {
		answers := map[string]bool{}
		for _, p := range nodes {
			answer, err := p.ask("list")
			if err != nil && !errors.Is(err, io.EOF) {
				return false
			}
			list = answer
			answers[answer] = true
		}
		return len(answers) == 1 && strings.HasSuffix(list, " last")
	})
	counts := map[string]int{}
	for _, e := range strings.Fields(list)[1:] {
		counts[e]++
	}
	for e, unknown := range maybeTwice {
		if counts[e] == 0 || counts[e] > 1 && !unknown {
			t.Errorf("entry %s exists %d times", e, counts[e])
		}
	}
}
