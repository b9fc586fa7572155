package main

import (
	"fmt"
	"strings"
)

// callDriver sends a request to the driver and checks its answer.
func (s *caseRun) callDriver(step *step) (came any, wrong []string) {
	request := step.Do
	s.completeRequest(request)
	answer, err := s.driver.request(request)
	if err != nil {
		return nil, []string{err.Error()}
	}
	if request["op"] == "buyer.serve" {
		if name, is := request["buyer"].(string); is {
			s.mu.Lock()
			s.servedBuyers = append(s.servedBuyers, name)
			s.mu.Unlock()
		}
	}
	expect, _ := step.Expect.(map[string]any)
	if _, failed := answer.value["error"]; failed {
		if leak := s.leakIn(answer.line); leak != "" {
			return nil, []string{"the error contains " + leak + ": " + strings.TrimSpace(answer.line)}
		}
		if _, expected := expect["error"]; !expected {
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

// completeRequest adds the usual members to a request, and records its personal data and credentials.
func (s *caseRun) completeRequest(request map[string]any) {
	if request["op"] == "client.new" {
		if _, there := request["base_url"]; !there {
			request["base_url"] = s.env.proxies["live"].server.URL
		}
	}
	if _, found := request["op"]; !found {
		request["op"] = "call"
	}
	if _, found := request["client"]; !found && request["op"] == "call" {
		request["client"] = "c"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.collectContactData(request["body"])
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

// contactMembers are the members with values that no error may contain.
var contactMembers = map[string]bool{"first_name": true, "last_name": true, "email": true, "phone": true, "line1": true}

func (s *caseRun) collectContactData(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, inner := range value {
			if text, is := inner.(string); is && contactMembers[name] && len(text) >= 5 {
				s.personalData = append(s.personalData, text)
			}
			s.collectContactData(inner)
		}
	case []any:
		for _, inner := range value {
			s.collectContactData(inner)
		}
	}
}

// leakIn returns the secret or personal data in an answer, or "".
func (s *caseRun) leakIn(line string) string {
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
	for _, text := range s.personalData {
		if strings.Contains(line, text) {
			return fmt.Sprintf("personal data of the lead (%q)", text)
		}
	}
	return ""
}
