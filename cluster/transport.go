package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

var (
	errMayHaveLease  = errors.New("cluster: this node heard from the leader a moment ago, and requests no votes")
	errLateHandOver  = errors.New("cluster: the hand-over belongs to another term")
	errTransportDone = errors.New("cluster: the node stops")
)

// nodeTransport is Raft's transport. It passes the messages of other nodes to Raft through the voteGuard, and
// records for the lease when other nodes accepted heartbeats.
//
// One goroutine passes messages on, each after the answer to the one before it. Raft also handles them in
// turn. Only heartbeats in the present term take another way, because Raft's main goroutine may wait for the
// disk. All others go through the main goroutine, so that only that one changes the term.
type nodeTransport struct {
	*raft.NetworkTransport
	node              *Node
	guard             voteGuard
	toRaft            chan raft.RPC
	heartbeatsForMain chan raft.RPC // they wait for Raft's main goroutine
	stop              chan struct{}
	stopped           sync.Once
	loop              sync.WaitGroup
}

func (n *Node) newTransport(network *raft.NetworkTransport) *nodeTransport {
	t := &nodeTransport{
		NetworkTransport: network, node: n, guard: voteGuard{heartbeatTimeout: n.opt.HeartbeatTimeout, holdsLease: n.HoldsLease},
		toRaft: make(chan raft.RPC), heartbeatsForMain: make(chan raft.RPC), stop: make(chan struct{}),
	}
	t.loop.Go(t.passMessages)
	return t
}

// Close ends the transport. A vote in progress ends without an answer.
func (t *nodeTransport) Close() error {
	t.stopped.Do(func() { close(t.stop) })
	err := t.NetworkTransport.Close()
	t.loop.Wait()
	return err
}

// LocalAddr returns the address of this node. That of its listener may be the same on every node, such as
// [::]:7000, and Raft would take the votes of one for those of another.
func (t *nodeTransport) LocalAddr() raft.ServerAddress {
	return raft.ServerAddress(t.node.opt.Address)
}

// Consumer returns the messages for Raft.
func (t *nodeTransport) Consumer() <-chan raft.RPC { return t.toRaft }

// SetHeartbeatHandler sets Raft's function for heartbeats.
func (t *nodeTransport) SetHeartbeatHandler(process func(raft.RPC)) {
	t.NetworkTransport.SetHeartbeatHandler(func(rpc raft.RPC) {
		term := rpc.Command.(*raft.AppendEntriesRequest).Term
		if r := t.node.started.Load(); r == nil || r.State() != raft.Follower || r.CurrentTerm() != term {
			select {
			case t.heartbeatsForMain <- rpc:
			case <-t.stop:
			}
			return
		}
		t.guard.accept(term, func() bool {
			inner, answer := withOwnAnswer(rpc)
			process(inner)
			select {
			case a := <-answer:
				rpc.RespChan <- a
				return isAccepted(a)
			default: // Raft stops
				return false
			}
		})
	})
}

// withOwnAnswer returns the message with another channel for Raft's answer.
func withOwnAnswer(rpc raft.RPC) (raft.RPC, chan raft.RPCResponse) {
	answer := make(chan raft.RPCResponse, 1)
	rpc.RespChan = answer
	return rpc, answer
}

func isAccepted(a raft.RPCResponse) bool {
	r, ok := a.Response.(*raft.AppendEntriesResponse)
	return ok && a.Error == nil && r.Success
}

func (t *nodeTransport) passMessages() {
	for {
		var rpc raft.RPC
		select {
		case rpc = <-t.NetworkTransport.Consumer():
		case rpc = <-t.heartbeatsForMain:
		case <-t.stop:
			return
		}
		answer, err := t.passMessage(rpc)
		if err != nil {
			answer.Error = err
		}
		rpc.RespChan <- answer
	}
}

// passMessage passes a message to Raft and returns the answer, unless the guard forbids it, an entry is damaged, or a
// hand-over is late.
func (t *nodeTransport) passMessage(rpc raft.RPC) (answer raft.RPCResponse, err error) {
	process := func() { answer, err = t.askRaft(rpc) }
	header := raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}
	switch message := rpc.Command.(type) {
	case *raft.AppendEntriesRequest:
		if err := checkEntries(message.Entries); err != nil {
			t.node.opt.Logger.Error("refused a damaged entry of the leader; check the leader's disk and memory", "node", t.node.opt.ID, "leader", string(message.ID), "error", err)
			return answer, err
		}
		if process(); isAccepted(answer) {
			t.guard.accept(message.Term, func() bool { return true })
		}
	case *raft.RequestVoteRequest:
		if !t.guard.grant(message.Term, message.LeadershipTransfer, process) {
			answer.Response = &raft.RequestVoteResponse{RPCHeader: header}
		}
	case *raft.RequestPreVoteRequest:
		if !t.guard.grant(message.Term, false, process) {
			answer.Response = &raft.RequestPreVoteResponse{RPCHeader: header}
		}
	case *raft.TimeoutNowRequest:
		term, known := termOfHandOver(message)
		if r := t.node.started.Load(); !known || r == nil || r.State() != raft.Follower || r.CurrentTerm() != term {
			return answer, errLateHandOver
		}
		t.guard.beginHandOver(term)
		process()
	default:
		process()
	}
	return answer, err
}

func (t *nodeTransport) askRaft(rpc raft.RPC) (raft.RPCResponse, error) {
	inner, answer := withOwnAnswer(rpc)
	select {
	case t.toRaft <- inner:
	case <-t.stop:
		return raft.RPCResponse{}, errTransportDone
	}
	select {
	case a := <-answer:
		return a, a.Error
	case <-t.stop:
		return raft.RPCResponse{}, errTransportDone
	}
}

// AppendEntries sends a message of the leader to another node. All heartbeats are such messages.
func (t *nodeTransport) AppendEntries(id raft.ServerID, target raft.ServerAddress, args *raft.AppendEntriesRequest, resp *raft.AppendEntriesResponse) error {
	sent := time.Now()
	err := t.NetworkTransport.AppendEntries(id, target, args, resp)
	if err == nil && resp.Success {
		t.node.lease.record(id, args.Term, sent)
		t.node.confirmEntries(id, args, resp)
	}
	return err
}

// RequestVote requests the vote of another node.
func (t *nodeTransport) RequestVote(id raft.ServerID, target raft.ServerAddress, args *raft.RequestVoteRequest, resp *raft.RequestVoteResponse) error {
	if !t.guard.mayRequestVotes(args.Term, args.LeadershipTransfer) {
		return errMayHaveLease
	}
	err := t.NetworkTransport.RequestVote(id, target, args, resp)
	if err == nil && resp.Granted && t.node.opt.Confirmed != nil {
		t.node.opt.Confirmed(string(id), 0, args.Term, args.Term)
	}
	return err
}

// TimeoutNow makes another node the successor of this leader. The message contains the term, because it may
// arrive late. From now on this node must not hold the lease again in that term.
func (t *nodeTransport) TimeoutNow(id raft.ServerID, target raft.ServerAddress, args *raft.TimeoutNowRequest, resp *raft.TimeoutNowResponse) error {
	term := t.node.handOverTerm.Load()
	if t.node.raft.CurrentTerm() != term {
		return errLateHandOver
	}
	t.node.handOverSentTerm.Store(term)
	if t.node.opt.loseHandOver {
		return nil
	}
	message := *args
	message.ID = binary.LittleEndian.AppendUint64([]byte(fmt.Sprintf("%s ", args.ID)), term)
	return t.NetworkTransport.TimeoutNow(id, target, &message, resp)
}

// termOfHandOver returns the term of the leader that hands over, which TimeoutNow appended to its id.
func termOfHandOver(message *raft.TimeoutNowRequest) (term uint64, known bool) {
	at := len(message.ID) - 8
	if at < 1 || message.ID[at-1] != ' ' {
		return 0, false
	}
	return binary.LittleEndian.Uint64(message.ID[at:]), true
}
