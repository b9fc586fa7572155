package clusterapi

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/valyala/fasthttp"

	"pingpost/api/errcode"
	"pingpost/server/admin/payload"
	"pingpost/server/httperror"
)

// API has the operations on the cluster.
type API struct {
	// Controller returns the exchange's controller, also while the exchange starts or stops.
	Controller func() Controller
}

// AddRoutes registers the operations with the function add.
func (a *API) AddRoutes(add func(method, path string, h func(*fasthttp.RequestCtx) (answer any, err error))) {
	add("GET", "/admin/v1/cluster", a.getStatus)
	add("POST", "/admin/v1/cluster/nodes/{id}", a.addNode)
	add("DELETE", "/admin/v1/cluster/nodes/{id}", a.removeNode)
	add("POST", "/admin/v1/cluster/handover", a.handOver)
}

func (a *API) getStatus(*fasthttp.RequestCtx) (answer any, err error) {
	status := a.Controller().ClusterStatus()
	return newStatusAnswer(&status), nil
}

func (a *API) addNode(ctx *fasthttp.RequestCtx) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	return nil, newAPIError(id, a.Controller().AddNode(id))
}

func (a *API) removeNode(ctx *fasthttp.RequestCtx) (answer any, err error) {
	id := payload.PathParameter(ctx, "id")
	return nil, newAPIError(id, a.Controller().RemoveNode(id))
}

func (a *API) handOver(ctx *fasthttp.RequestCtx) (answer any, err error) {
	var body struct {
		To string `json:"to"`
	}
	if len(bytes.TrimSpace(payload.RequestBody(ctx))) > 0 {
		if err := payload.DecodeJSONBody(ctx, &body); err != nil {
			return nil, err
		}
	}
	err = a.Controller().HandOver(body.To)
	if errors.Is(err, ErrUnknownNode) {
		return nil, payload.NewInvalidFieldError("to", errcode.FieldNotAllowedValue, "the id of a node; GET cluster lists them")
	}
	return nil, newAPIError(body.To, err)
}

// newAPIError returns the answer for an error of a Controller about the node with this id.
func newAPIError(id string, err error) error {
	shown := fmt.Sprintf("%.66q", id)
	switch {
	case errors.Is(err, ErrNoCluster):
		return httperror.New(409, errcode.Conflict, "This exchange is a single node. Configure cluster to make it a node of a cluster.")
	case errors.Is(err, ErrUnknownNode):
		return httperror.New(404, errcode.NotFound, "The configuration has no node "+shown+". Add it to cluster.peers of each node, and restart them.")
	case errors.Is(err, ErrNotTakenOver) && id == "":
		return httperror.New(409, errcode.Conflict, "No other member can be reached and is ready to lead. Start one, and wait until GET cluster shows no lag.")
	case errors.Is(err, ErrNotReachable):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" cannot be reached, or it has failed. Start it, and read its log.")
	case errors.Is(err, ErrNotTakenOver):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" did not take over, because it lacks log entries or does not answer. Wait until GET cluster shows no lag of this node, and send this request again.")
	case errors.Is(err, ErrStaleCopy):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" has a copy of the data that is too old to join. Delete its data directory, except keys/exchange.key, and start it again: it then copies the data anew.")
	case errors.Is(err, ErrAlreadyMember):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" is a member already.")
	case errors.Is(err, ErrNotMember):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" is not a member. Add it first.")
	case errors.Is(err, ErrIsLeader):
		return httperror.New(409, errcode.Conflict, "The node "+shown+" is the leader. To remove it, hand over to another node first.")
	case errors.Is(err, ErrNotLeader):
		return httperror.New(503, errcode.Unavailable, "The cluster has no leader at present, or its leader changed. Send this request again after the time in Retry-After.")
	}
	return err
}

// statusAnswer is the status of the cluster in JSON.
type statusAnswer struct {
	Node   *string      `json:"node"` // null: a single node
	Role   Role         `json:"role"`
	Leader *string      `json:"leader"` // null: an election, or a single node
	Term   uint64       `json:"term"`
	Entry  uint64       `json:"entry"`
	Nodes  []nodeAnswer `json:"nodes"`
}

type nodeAnswer struct {
	ID          string  `json:"id"`
	Address     string  `json:"address"`
	Role        Role    `json:"role"`
	Member      bool    `json:"member"`
	Reachable   bool    `json:"reachable"`
	LastContact *int64  `json:"last_contact_ms"`
	Entry       *uint64 `json:"entry"`
	Lag         *uint64 `json:"lag_entries"`
	Version     *string `json:"version"`
	Error       *string `json:"error"`
}

func newStatusAnswer(s *Status) statusAnswer {
	return statusAnswer{
		Node: payload.NullIfEmpty(s.Node), Role: s.Role, Leader: payload.NullIfEmpty(s.Leader), Term: s.Term, Entry: s.Entry,
		Nodes: payload.ConvertAll(s.Nodes, newNodeAnswer),
	}
}

func newNodeAnswer(n *NodeStatus) nodeAnswer {
	answer := nodeAnswer{
		ID: n.ID, Address: n.Address, Role: n.Role, Member: n.Member, Reachable: n.Reachable, Entry: n.Entry, Lag: n.Lag,
		Version: payload.NullIfEmpty(n.Version), Error: payload.NullIfEmpty(n.Error),
	}
	if n.LastContact != nil {
		ms := max(*n.LastContact, 0).Milliseconds()
		answer.LastContact = &ms
	}
	return answer
}
