package main

import (
	"fmt"
	"strings"
)

// do sends a request to the driver and holds its answer against what is expected.
func (s *scene) do(step *step) (came any, wrong []string) {
	request := step.Do
	s.complete(request)
	answer, err := s.driver.ask(request)
	if err != nil {
		return nil, []string{err.Error()}
	}
	if request["op"] == "buyer.serve" {
		if name, is := request["buyer"].(string); is {
			s.mu.Lock()
			s.served = append(s.served, name)
			s.mu.Unlock()
		}
	}
	expect, _ := step.Expect.(map[string]any)
	if _, failed := answer.value["error"]; failed {
		if told := s.tells(answer.line); told != "" {
			return nil, []string{"the error tells " + told + ": " + strings.TrimSpace(answer.line)}
		}
		if _, meant := expect["error"]; !meant {
			return nil, []string{"an error: " + strings.TrimSpace(answer.line)}
		}
	} else if _, there := answer.value["result"]; !there {
		return nil, []string{"neither a result nor an error: " + strings.TrimSpace(answer.line)}
	}
	for name, want := range expect {
		value, there := answer.value[name]
		if list, is := want.([]any); is && name == "slept" {
			wrong = append(wrong, matchSlept(list, value)...)
			continue
		}
		wrong = append(wrong, match(name, want, value, there)...)
	}
	return answer.value, wrong
}

// complete gives a request what most of its kind have in common, and remembers the people
// in it.
func (s *scene) complete(request map[string]any) {
	if request["op"] == "client.new" {
		if _, there := request["base_url"]; !there {
			request["base_url"] = s.w.proxies["live"].server.URL
		}
	}
	if _, said := request["op"]; !said {
		request["op"] = "call"
	}
	if _, said := request["client"]; !said && request["op"] == "call" {
		request["client"] = "c"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remember(request["body"])
	verified, _ := request["secrets"].([]any)
	for _, secret := range verified {
		if text, is := secret.(string); is && text != "" {
			s.secrets = append(s.secrets, text)
		}
	}
	for _, name := range []string{"api_key", "client_secret", "token"} {
		if text, is := request[name].(string); is && request["op"] == "client.new" {
			s.secrets = append(s.secrets, text)
		}
	}
}

// contact are the members whose values no error may repeat.
var contact = map[string]bool{"first_name": true, "last_name": true, "email": true, "phone": true, "line1": true}

func (s *scene) remember(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if text, is := inner.(string); is && contact[name] && len(text) >= 5 {
				s.person = append(s.person, text)
			}
			s.remember(inner)
		}
	case []any:
		for _, inner := range value {
			s.remember(inner)
		}
	}
}

// tells is what an answer tells that it must not: a secret, or who a lead is.
func (s *scene) tells(line string) string {
	for name, secret := range credentials {
		if text, is := secret.(string); is && strings.Contains(text, "canary") && strings.Contains(line, text) {
			return "the " + name
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, text := range s.secrets {
		if strings.Contains(line, text) {
			return "a credential"
		}
	}
	for _, text := range s.person {
		if strings.Contains(line, text) {
			return fmt.Sprintf("who the lead is (%q)", text)
		}
	}
	return ""
}
