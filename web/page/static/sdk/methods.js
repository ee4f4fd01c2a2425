// One method for each command: arguments and results are those of the wire. The last argument is CallOptions.

import { RefusedError } from './errors.js';
import { newKey } from './key.js';

/**
 * @typedef {import('./types.js').CallOptions} CallOptions
 * @typedef {import('./types.js').Role} Role
 */

const notFound = 1001;

export class Methods {
  /**
   * @param {string} method
   * @param {any} [data]
   * @param {CallOptions} [options]
   * @returns {Promise<any>}
   */
  call(method, data, options) {
    throw new Error(`${method} ${data} ${options}: by a Client alone`);
  }

  // Rooms.

  /**
   * @param {import('./types.js').NewRoom} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').CreateRoomReply>}
   */
  createRoom(room, o) {
    return this.call('create_room', { ...room, key: room.key || newKey() }, o);
  }

  /**
   * direct returns the direct room of this user and another one.
   * @param {string} user
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').RoomReply>}
   */
  direct(user, o) {
    return this.call('direct', { user }, o);
  }

  /**
   * block blocks a user, and takes this user out of the direct room of the two.
   * @param {string} user
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  block(user, o) {
    return this.call('block', { user }, o);
  }

  /**
   * @param {string} user
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  unblock(user, o) {
    return this.call('unblock', { user }, o);
  }

  /**
   * setContact sets who may open direct rooms with this user and put this user into rooms.
   * @param {import('./types.js').Contact} contact
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  setContact(contact, o) {
    return this.call('set_contact', { contact }, o);
  }

  /**
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').ContactsReply>}
   */
  contacts(o) {
    return this.call('contacts', {}, o);
  }

  /**
   * users returns names and avatars of the users that are in a room together with this user. Others are left out.
   * @param {string[]} users ids, at most 100
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').UsersReply>}
   */
  users(users, o) {
    return this.call('users', { users }, o);
  }

  /**
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').RoomReply>}
   */
  join(room, o) {
    return this.call('join', { room }, o);
  }

  /**
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  leave(room, o) {
    return this.call('leave', { room }, o);
  }

  /**
   * rooms lists a page of the user's rooms, those created last first. The event ready has all of them.
   * @param {{next?: string, limit?: number}} [page]
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').RoomsReply>}
   */
  rooms(page, o) {
    return this.call('rooms', page, o);
  }

  /**
   * @param {{query?: string, next?: string, limit?: number}} [page]
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').FindRoomsReply>}
   */
  findRooms(page, o) {
    return this.call('find_rooms', page, o);
  }

  /**
   * invite adds users to a room: all of them, or none.
   * @param {string} room
   * @param {string[]} users
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  invite(room, users, o) {
    return this.call('invite', { room, users }, o);
  }

  /**
   * createLink makes an invite link. Its code is in this reply only. The call is repeated until it is answered; one link is made.
   * @param {{key?: string, room: string, ttl_s?: number, max_uses?: number, approval?: boolean}} link
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').CreateLinkReply>}
   */
  createLink(link, o) {
    return this.call('create_link', { ...link, key: link.key || newKey() }, o);
  }

  /**
   * links lists the invite links of a room: to the owner and admins all, to others their own.
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').LinksReply>}
   */
  links(room, o) {
    return this.call('links', { room }, o);
  }

  /**
   * @param {string} room
   * @param {string} link its id
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  revokeLink(room, link, o) {
    return this.call('revoke_link', { room, link }, o);
  }

  /**
   * joinLink: with waiting, 'entered' tells when the user was let in, and 'joinRefused' when the request was dropped.
   * @param {string} code of an invite link
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').JoinLinkReply>}
   */
  joinLink(code, o) {
    return this.call('join_link', { code }, o);
  }

  /**
   * joinRequests lists the users that ask to enter a room, to its owner and admins.
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').JoinRequestsReply>}
   */
  joinRequests(room, o) {
    return this.call('join_requests', { room }, o);
  }

  /**
   * @param {string} room
   * @param {string} user
   * @param {boolean} admit
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  answerRequest(room, user, admit, o) {
    return this.call('answer_request', { room, user, admit }, o);
  }

  /**
   * kick removes a user. A ban may end, at a time in Unix milliseconds, and have a reason, which only the host sees.
   * @param {string} room
   * @param {string} user
   * @param {boolean | {until?: number, reason?: string}} [ban]
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  kick(room, user, ban, o) {
    return this.call('kick', { room, user, ...(typeof ban === 'object' ? { ...ban, ban: true } : { ban }) }, o);
  }

  /**
   * @param {string} room
   * @param {string} user
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  unban(room, user, o) {
    return this.call('unban', { room, user }, o);
  }

  /**
   * setRole: an owner that names another one becomes an admin. So when the first answer is lost, the second is
   * `forbidden` with repeated set.
   * @param {string} room
   * @param {string} user
   * @param {Role} role
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  setRole(room, user, role, o) {
    return this.call('set_role', { room, user, role }, o);
  }

  /**
   * @param {string} room
   * @param {string} user
   * @param {number} seconds 0 ends the mute
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  mute(room, user, seconds, o) {
    return this.call('mute', { room, user, seconds }, o);
  }

  /**
   * @param {{room: string} & import('./types.js').RoomBody} change an empty announcement removes it
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').RoomReply>}
   */
  updateRoom(change, o) {
    return this.call('update_room', change, o);
  }

  /**
   * deleteRoom deletes a room for good.
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  async deleteRoom(room, o) {
    try {
      return await this.call('delete_room', { room }, o);
    } catch (error) {
      const done = error instanceof RefusedError && error.repeated && error.code === notFound;
      if (done) return {}; // an earlier try was not answered, and has deleted the room
      throw error;
    }
  }

  /**
   * setRoomPrefs changes what the user has decided about a room for all own devices. Missing fields stay.
   * @param {{room: string} & Partial<import('./types.js').RoomPrefs>} change
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').RoomPrefs>}
   */
  setRoomPrefs(change, o) {
    return this.call('set_room_prefs', change, o);
  }

  /**
   * pushKey returns the public key of the server that a browser needs to subscribe; without Web Push there is none.
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').PushKeyReply>}
   */
  pushKey(o) {
    return this.call('push_key', {}, o);
  }

  /**
   * subscribePush makes the server tell a browser's push subscription of news while the user has no socket.
   * @param {import('./types.js').PushSubscriptionKeys} subscription
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  subscribePush(subscription, o) {
    return this.call('subscribe_push', subscription, o);
  }

  /**
   * unsubscribePush ends a push subscription.
   * @param {string} endpoint
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  unsubscribePush(endpoint, o) {
    return this.call('unsubscribe_push', { endpoint }, o);
  }

  /**
   * @param {{room: string, next?: string, limit?: number}} page
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').MembersReply>}
   */
  members(page, o) {
    return this.call('members', page, o);
  }

  /**
   * @param {string} room
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').PresenceReply>}
   */
  presence(room, o) {
    return this.call('presence', { room }, o);
  }

  /**
   * report tells the host of a text or packet, by room and seq, or of a user.
   * @param {{room?: string, seq?: number, user?: string, reason: import('./types.js').ReportReason, text?: string, key?: string}} report
   * @param {CallOptions} [o]
   * @returns {Promise<{report: string, dup: boolean}>}
   */
  report(report, o) {
    return this.call('report', { ...report, key: report.key || newKey() }, o);
  }

  // Texts.

  /**
   * send sends a message to a room, once. text or data is required.
   * @param {import('./types.js').NewMessage} message
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').SendReply>}
   */
  send(message, o) {
    return this.call('send', { ...message, key: message.key || newKey() }, o);
  }

  /**
   * @param {string} room
   * @param {number} seq
   * @param {string} text
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').SeqReply>}
   */
  edit(room, seq, text, o) {
    return this.call('edit', { room, seq, text }, o);
  }

  /**
   * @param {string} room
   * @param {number} seq
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').SeqReply>}
   */
  recall(room, seq, o) {
    return this.call('recall', { room, seq }, o);
  }

  /**
   * @param {string} room
   * @param {number} seq
   * @param {string} emoji
   * @param {boolean} on
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').Nothing>}
   */
  react(room, seq, emoji, on, o) {
    return this.call('react', { room, seq, emoji, on }, o);
  }

  /**
   * mentions lists texts that mention the user, newest first. A page may be empty though it has next.
   * @param {{next?: string, limit?: number}} [page]
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').MentionsReply>}
   */
  mentions(page, o) {
    return this.call('mentions', page, o);
  }

  /**
   * history: without cursor the newest; always in ascending order.
   * @param {{room: string, before?: number, after?: number, limit?: number}} page
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').HistoryReply>}
   */
  history(page, o) {
    return this.call('history', page, o);
  }

  /**
   * read stores how far the user has read. The position never moves back.
   * @param {string} room
   * @param {number} seq
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').ReadReply>}
   */
  read(room, seq, o) {
    return this.call('read', { room, seq }, o);
  }

  // Packets and money.

  /**
   * @param {{packet: string, after_rank?: number, limit?: number}} page of its claims
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').PacketReply>}
   */
  packet(page, o) {
    return this.call('packet', page, o);
  }

  /**
   * cancelPacket cancels the user's own packet before the first grab.
   * @param {string} packet
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').CancelPacketReply>}
   */
  cancelPacket(packet, o) {
    return this.call('cancel_packet', { packet }, o);
  }

  /**
   * @param {{direction: 'sent'|'received', from?: number, to?: number, next?: string, limit?: number}} page
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').PacketsReply>}
   */
  packets(page, o) {
    return this.call('packets', page, o);
  }

  /**
   * @param {{next?: string, limit?: number}} [page]
   * @param {CallOptions} [o]
   * @returns {Promise<import('./types.js').WalletReply>}
   */
  wallet(page, o) {
    return this.call('wallet', page, o);
  }
}
