// Package growth measures what commands of users and of hosts cost in a small database and in a large one, both made by package fill. A cost
// that grows with the database shows in the table; a user would see it after years.
//
// Both servers get the same requests in turn, one at a time, through the server API.
package growth
