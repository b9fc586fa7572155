package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
	"unicode"

	"pingpost/cluster/clusterid"
)

// Purpose says which protocol a connection has after its handshake. The numbers are part of the protocol.
type Purpose byte

const (
	// Raft is for the messages of the consensus.
	Raft Purpose = 1
	// Requests is for HTTP requests that a follower forwards, and for copies of data.
	Requests Purpose = 2
)

const (
	magic         = "PPC2"
	maxVerdict    = 1 << 10
	handshakeTime = 5 * time.Second
)

// The answer to the dialer's hello.
const (
	proofRight byte = iota
	proofWrong
)

var (
	// ErrRefused is wrapped by the error of a handshake that one of the two nodes refused. The cause lasts
	// until an operator removes it.
	ErrRefused = errors.New("the nodes of the cluster refuse each other")
	// ErrMustStop is wrapped by the error of a handshake if the other node found that this one must not take
	// part: its data is an old copy, or another node with its id runs.
	ErrMustStop = errors.New("this node must stop")
	// errOtherMustStop is wrapped by the reason for which this node refuses a node that must not take part. That
	// node gets verdictRefusedAndMustStop, and reports ErrMustStop.
	errOtherMustStop = errors.New("invalid start")
)

// The codes of a verdict.
const (
	verdictAccepted byte = iota
	verdictRefused
	verdictRefusedAndMustStop
)

// Self is this node in handshakes.
type Self struct {
	Identity Identity
	// LinkKey is derived from the exchange's key. Each end proves that it has it.
	LinkKey  [32]byte
	Registry *Registry
	// MayBeMember reports whether the node is a member of the cluster, or may be one. The registry knows only
	// members: a removed node may be replaced by a new one with its id. Nil: all are members.
	MayBeMember func(node string) bool
}

// handshakeAsDialer performs the handshake of a connection that this node opened to the node with this id, within limit.
func (s *Self) handshakeAsDialer(conn net.Conn, purpose Purpose, id string, limit time.Duration) error {
	return withDeadline(conn, limit, func() error {
		self, err := s.present()
		if err != nil {
			return err
		}
		p, _, err := exchangeOpenings(conn, &s.LinkKey, dialer, purpose)
		if err != nil {
			return err
		}
		if _, err := conn.Write(p.appendProvenHello(nil, dialer, self, id)); err != nil {
			return err
		}
		var proofAnswer [1]byte
		if _, err := io.ReadFull(conn, proofAnswer[:]); err != nil {
			return err
		}
		if proofAnswer[0] != proofRight {
			return fmt.Errorf("%w: %w", ErrRefused, errWrongProof)
		}
		other, _, err := p.readProvenHello(conn, acceptor)
		if err != nil {
			return err
		}
		if other.Node != id {
			return fmt.Errorf("node %q answers at the address of node %q; correct the address", other.Node, id)
		}
		return s.exchangeVerdicts(conn, &other, s.judge(self, &other, purpose))
	})
}

// present returns the node's present identity.
func (s *Self) present() (*Identity, error) {
	self := s.Identity
	var err error
	self.Cluster, err = clusterid.Read(s.Registry.dir)
	return &self, err
}

// handshakeAsAcceptor performs the handshake of a connection that another node opened. It calls proven when the other
// end has proved that it has the exchange's key.
func (s *Self) handshakeAsAcceptor(conn net.Conn, proven func()) (purpose Purpose, err error) {
	err = withDeadline(conn, handshakeTime, func() error {
		var p *prover
		if p, purpose, err = exchangeOpenings(conn, &s.LinkKey, acceptor, 0); err != nil {
			return err
		}
		other, receiver, err := p.readProvenHello(conn, dialer)
		if errors.Is(err, errWrongProof) {
			_, sendErr := conn.Write([]byte{proofWrong})
			return errors.Join(fmt.Errorf("%w: %w", ErrRefused, err), sendErr)
		}
		if err != nil {
			return err
		}
		proven()
		self, err := s.present()
		if err != nil {
			return err
		}
		if _, err := conn.Write(p.appendProvenHello([]byte{proofRight}, acceptor, self, other.Node)); err != nil {
			return err
		}
		if receiver != self.Node {
			return s.exchangeVerdicts(conn, &other, fmt.Errorf("node %q dialed the address of node %q, and node %q answers; correct the address", other.Node, receiver, self.Node))
		}
		reason := s.judge(self, &other, purpose)
		if reason == nil && purpose == Raft && !s.Registry.mayOpenRaft(other.Node) {
			reason = fmt.Errorf("node %q is no member of the cluster; add it first", other.Node)
		}
		return s.exchangeVerdicts(conn, &other, reason)
	})
	return purpose, err
}

func withDeadline(conn net.Conn, limit time.Duration, handshake func() error) error {
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	if err := handshake(); err != nil {
		return fmt.Errorf("cannot connect the nodes of the cluster: %w", err)
	}
	return conn.SetDeadline(time.Time{})
}

// exchangeVerdicts sends the reason for which this node refuses the other, or nil, and receives the other's.
func (s *Self) exchangeVerdicts(conn net.Conn, other *Identity, mine error) error {
	code := verdictAccepted
	var text string
	if mine != nil {
		if code, text = verdictRefused, mine.Error(); errors.Is(mine, errOtherMustStop) {
			code = verdictRefusedAndMustStop
		}
	}
	verdict := binary.LittleEndian.AppendUint16([]byte{code}, uint16(len(text)))
	if _, err := conn.Write(append(verdict, text...)); err != nil {
		return err
	}
	theirCode, theirs, err := readVerdict(conn) // also if this node refuses, so that the other end can read why
	switch {
	case mine != nil:
		return fmt.Errorf("%w: %w", ErrRefused, mine)
	case err != nil:
		return err
	case theirCode == verdictRefusedAndMustStop:
		return fmt.Errorf("%w: %w: node %q says: %s", ErrRefused, ErrMustStop, other.Node, theirs)
	case theirCode != verdictAccepted:
		return fmt.Errorf("%w: node %q says: %s", ErrRefused, other.Node, theirs)
	}
	return nil
}

// readVerdict returns the other end's verdict. Its text can be logged.
func readVerdict(conn net.Conn) (code byte, text string, err error) {
	var head [3]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, "", err
	}
	sent := make([]byte, min(binary.LittleEndian.Uint16(head[1:]), maxVerdict))
	_, err = io.ReadFull(conn, sent)
	text = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, string(sent))
	return head[0], text, err
}

// judge returns the reason for refusing the other node, or nil. It wraps errOtherMustStop if the other
// node must stop. Otherwise it stores the other's start and, for Raft, adopts its cluster if this node has none.
func (s *Self) judge(self, other *Identity, purpose Purpose) error {
	switch {
	case other.Exchange != s.Identity.Exchange && !isCopyRequest(other, &s.Identity, purpose):
		return fmt.Errorf("node %q has the data of another exchange; delete its data and let it copy that of another node", other.Node)
	case other.Cluster != self.Cluster && other.Cluster != (clusterid.ID{}) && self.Cluster != (clusterid.ID{}):
		return fmt.Errorf("node %q has the data of another cluster of this exchange; delete its data and let it copy that of another node", other.Node)
	case other.Node == s.Identity.Node:
		switch {
		case other.Run != s.Identity.Run:
		case purpose == Raft:
			return fmt.Errorf("the address of another node leads to node %q itself, which would have two votes; correct the address", other.Node)
		default:
			return nil // a request may go to the node itself
		}
		return fmt.Errorf("two nodes have the id %q; give one of them another id", other.Node)
	}
	if purpose == Raft && other.HeartbeatTimeout != self.HeartbeatTimeout {
		return fmt.Errorf("node %q has the heartbeat timeout %v, and node %q has %v; stop all nodes and give them the same", other.Node, other.HeartbeatTimeout, self.Node, self.HeartbeatTimeout)
	}
	if s.MayBeMember == nil || s.MayBeMember(other.Node) {
		if err := s.Registry.checkAndRecordStart(other); err != nil {
			return err
		}
	}
	if purpose != Raft {
		return nil
	}
	return s.Registry.joinCluster(other.Cluster)
}

// isCopyRequest reports whether one of the two nodes has no data, and the connection is for Requests. That node
// belongs to no exchange yet. It may ask for a copy, and must not take part in the consensus.
func isCopyRequest(one, other *Identity, purpose Purpose) bool {
	return purpose == Requests && (one.Exchange == [16]byte{} || other.Exchange == [16]byte{})
}
