package slack

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// slackUser is an element of users.json.
type slackUser struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Profile struct {
		RealName    string `json:"real_name"`
		DisplayName string `json:"display_name"`
		Image       string `json:"image_192"`
	} `json:"profile"`
}

// channel is an element of channels.json, groups.json, mpims.json or dms.json.
type channel struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"` // not of a direct message
	Created int64    `json:"created"`
	Creator string   `json:"creator"`
	Members []string `json:"members"`
	Topic   struct {
		Value string `json:"value"`
	} `json:"topic"`
	Purpose struct {
		Value string `json:"value"`
	} `json:"purpose"`
}

// message is an element of the file of a day.
type message struct {
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	BotID    string `json:"bot_id"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts"`
	Files    []struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Private string `json:"url_private"`
		Mode    string `json:"mode"`
	} `json:"files"`
	Attachments []struct {
		Fallback string `json:"fallback"`
		Text     string `json:"text"`
	} `json:"attachments"`
	Reactions []struct {
		Name  string   `json:"name"`
		Users []string `json:"users"`
	} `json:"reactions"`
	Edited *struct {
		TS string `json:"ts"`
	} `json:"edited"`
}

// saidBySomebody are the subtypes of messages that a person or a program has written. The others are notes of Slack, such as channel_join.
var saidBySomebody = map[string]bool{
	"": true, "bot_message": true, "me_message": true, "file_share": true, "file_comment": true, "thread_broadcast": true, "reply_broadcast": true,
}

// millis returns the Unix milliseconds of a timestamp such as 1355517523.000005.
func millis(ts string) (int64, bool) {
	seconds, fraction, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || s <= 0 || s > int64(time.Duration(1<<63-1)/time.Second) {
		return 0, false
	}
	ms, err := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	return s*1000 + ms, err == nil
}

// author returns the id of the author in Slack; "" if the message names none.
func (m *message) author() string {
	switch {
	case m.User != "":
		return m.User
	case m.BotID != "":
		return m.BotID
	}
	return ""
}

// decode parses a JSON file whose top level is a list.
func decode[T any](data []byte) (all []T, err error) {
	err = json.Unmarshal(data, &all)
	return all, err
}
