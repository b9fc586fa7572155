package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"pingpost/engine"
	"pingpost/engine/market"
	"pingpost/engine/state"
)

// Operators' accounts and tokens have their own verbs:
//
//	user ann role=admin word=w7    creates or changes an account; without a word it keeps its own
//	fire ann                       deletes it
//	token ann t9 role=viewer for=720h
//	revoke t9

// staffStep returns a random step about operators.
func (g *generator) staffStep() line {
	name := g.pickWord("ann", "bob", "carl")
	g.next++
	label := strconv.Itoa(g.next)
	switch g.IntN(8) {
	case 0:
		return step("fire", name)
	case 1, 2:
		return step("user", name, "role", g.pickWord("viewer", "operator", "admin"), "word", "w"+label)
	case 3:
		return step("user", name, "role", g.pickWord("viewer", "operator", "admin"))
	case 4:
		return step("revoke", "t"+strconv.Itoa(max(0, g.next-g.IntN(300))))
	}
	return step("token", name+" t"+label, "role", g.pickWord("viewer", "operator", "admin"), "for", g.pickWord("", "", "1h", "300h"))
}

// staffed performs such a step with the engine. ok is false for other steps.
func (x *exchange) staffed(l line) (answer string, ok bool) {
	role, _ := market.ParseRole(l.said["role"])
	e := x.engine.By("boss")
	switch l.verb {
	case "user":
		_, err := e.SetUser(engine.User{Name: l.at(0), Role: role, Password: l.said["word"]}, true)
		return operated(err), true
	case "fire":
		return operated(e.RemoveUser(l.at(0), true)), true
	case "token":
		user, _ := x.state.User(l.at(0))
		token := &state.APIToken{User: l.at(0), Name: l.at(1), Role: role, Hash: hashOf(l.at(1))}
		if lasts := l.duration("for", 0); lasts > 0 {
			token.Expires = time.Now().Add(lasts).UnixNano()
		}
		return operated(e.AddAPIToken(user, token)), true
	case "revoke":
		return operated(e.RevokeAPIToken(&state.APIToken{User: "whoever", Hash: hashOf(l.at(0))})), true
	}
	return "", false
}

func hashOf(token string) (hash [32]byte) {
	copy(hash[:], token)
	return hash
}

// account and paper are a user and a token in the model.
type account struct {
	role, word string
}

type tokenModel struct {
	user, role string
	at, until  int64
}

var roles = []string{"viewer", "operator", "admin"}

// staffed performs such a step in the model.
func (m *model) staffed(l line) (answer string, ok bool) {
	name := l.at(0)
	was, known := m.users[name]
	is := account{l.said["role"], cmp.Or(l.said["word"], was.word)}
	switch l.verb {
	case "user":
		switch {
		case !known && is.word == "":
			return "not found", true
		case known && !l.has("word") && is.role == was.role:
			return "done", true
		case is.role != "admin" && m.lastAdmin(name):
			return "conflict", true
		}
		m.commit(func() { m.endPapers(name); m.users[name] = is })
	case "fire":
		switch {
		case !known:
			return "not found", true
		case m.lastAdmin(name):
			return "conflict", true
		}
		m.commit(func() { m.endPapers(name); delete(m.users, name) })
	case "token":
		return m.givePaper(l, known, was), true
	case "revoke":
		m.commit(func() { delete(m.tokens, name) })
	default:
		return "", false
	}
	return "done", true
}

func (m *model) givePaper(l line, known bool, user account) string {
	switch {
	case !known:
		return "not found"
	case slices.Index(roles, l.said["role"]) > slices.Index(roles, user.role):
		return "conflict"
	}
	good := 0
	byAge := slices.SortedFunc(maps.Keys(m.tokens), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.tokens[a].at, m.tokens[b].at), cmp.Compare(a, b))
	})
	for _, name := range byAge {
		switch p := m.tokens[name]; {
		case p.user != l.at(0):
		case p.until == 0 || p.until > m.now:
			good++
		default:
			m.commit(func() { delete(m.tokens, name) })
		}
	}
	if good >= engine.MaxAPITokens {
		return "conflict"
	}
	p := tokenModel{user: l.at(0), role: l.said["role"], at: m.now}
	if lasts := l.duration("for", 0); lasts > 0 {
		p.until = m.now + int64(lasts)
	}
	m.commit(func() { m.tokens[l.at(1)] = p })
	return "done"
}

// lastAdmin reports whether a user is the only admin.
func (m *model) lastAdmin(name string) bool {
	for other, u := range m.users {
		if other != name && u.role == "admin" {
			return false
		}
	}
	return m.users[name].role == "admin"
}

func (m *model) endPapers(user string) {
	maps.DeleteFunc(m.tokens, func(_ string, p tokenModel) bool { return p.user == user })
}

// lookAtStaff checks that a state has exactly the model's users and tokens.
func (p *play) lookAtStaff(s *state.State) string {
	users, papers := map[string]account{}, map[string]tokenModel{}
	for _, u := range s.Users() {
		users[u.Name] = account{u.Role.String(), u.Password}
	}
	for _, t := range s.APITokens("") {
		papers[strings.TrimRight(string(t.Hash[:]), "\x00")] = tokenModel{t.User, t.Role.String(), t.At, t.Expires}
	}
	if !maps.Equal(users, p.m.users) || !maps.Equal(papers, p.m.tokens) {
		return fmt.Sprintf("there are the users %v with the tokens %v; by the model %v with %v", users, papers, p.m.users, p.m.tokens)
	}
	return ""
}
