package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
)

// objectPrefix starts the name of each object that an operator creates. A unique number
// follows, so an answer or an entry identifies its object. A buyer is created as a
// configuration entry, which is a file beside the log.
const objectPrefix = "work_"

// objectList is a suppression list that an operator fills. Its number of lines identifies the
// upload.
const objectList = objectPrefix + "list"

var (
	userCreated  = regexp.MustCompile(`^\{"name":"(` + objectPrefix + `\d+)"`)
	buyerCreated = regexp.MustCompile(`^\{"etag":"[^"]*","changes":\["\+ buyers\[(` + objectPrefix + `\d+)\]`)
	listFilled   = regexp.MustCompile(`^\{"entries":(\d+),"duplicates":`)
)

// createdObject returns the object that an answer reports as created, or "".
func createdObject(body []byte) string {
	for kind, is := range map[string]*regexp.Regexp{"user ": userCreated, "buyer ": buyerCreated, "list of ": listFilled} {
		if found := is.FindSubmatch(body); found != nil {
			return kind + string(found[1])
		}
	}
	return ""
}

// noteBuyerName notes a buyer that received a reference number; a configuration entry causes
// this.
func (f *logIndex) noteBuyerName(id string) {
	if strings.HasPrefix(id, objectPrefix) {
		f.pendingBuyers = append(f.pendingBuyers, "buyer "+strings.Clone(id))
	}
}

// noteConfigEntry notes that the named buyers are active from this entry on. Objects are created one
// after another, so the first configuration after the name contains the buyer. An attempt that
// ended after the name has no acknowledgement.
func (f *logIndex) noteConfigEntry(seq uint64) {
	for _, made := range f.pendingBuyers {
		f.seqByCreated[made] = seq
	}
	f.pendingBuyers = nil
}

// createObjects creates a user, a buyer and a list's content as an operator.
func (r *recording) createObjects(ctx context.Context, p *process) error {
	next := func() string {
		r.objectCount++
		return fmt.Sprint(objectPrefix, r.objectCount)
	}
	put := func(path, body string, header ...string) error {
		_, err := p.adminCall(ctx, http.MethodPut, "/admin/v1/"+path, body, header...)
		return err
	}
	user, buyer := next(), next()
	err := errors.Join(
		put("users/"+user, `{"role":"viewer","password":"the password of `+user+`"}`),
		put("config/buyers/"+buyer, `{"caps":[{"per":"day","count":7}]}`, "If-None-Match", "*"),
		put("config/suppression_lists/"+objectList, `{"field":"phone"}`, "If-None-Match", "*"),
	)
	r.objectCount++
	var lines strings.Builder
	for n := range r.objectCount {
		fmt.Fprintf(&lines, "+1415777%04d\n", n)
	}
	return errors.Join(err, put("suppression/"+objectList, lines.String()))
}

// checkCreatedObjects checks that a restarted exchange has all objects that were acknowledged up to a
// tick of a lifetime.
func (r *recording) checkCreatedObjects(ctx context.Context, p *process, life, tick int) error {
	users, err := p.adminCall(ctx, http.MethodGet, "/admin/v1/users", "")
	if err != nil {
		return err
	}
	buyers, err := p.adminCall(ctx, http.MethodGet, "/admin/v1/config/buyers", "")
	if err != nil {
		return err
	}
	for _, l := range r.lifetimes[:life+1] {
		for i := range l.acks {
			kind, name, _ := strings.Cut(l.acks[i].created, " ")
			in := map[string][]byte{"user": users, "buyer": buyers}[kind]
			if in != nil && l.acks[i].tick <= tick && !bytes.Contains(in, []byte(`"`+name+`"`)) {
				return fmt.Errorf("the creation of %s was acknowledged, but it is missing after the power loss", l.acks[i].created)
			}
		}
	}
	return nil
}
