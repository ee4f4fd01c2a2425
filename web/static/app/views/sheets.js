// All sheets by the name that stands in the address. modal: a dialog on a wide screen too (or whether it is one, by the id), else a
// panel beside the room there.
import { t } from '../words.js';
import { isSealed } from '../model/packets.js';
import { NewRoom } from './new-room.js';
import { FindRooms } from './find-rooms.js';
import { Direct } from './direct.js';
import { Settings } from './settings.js';
import { Compose } from './compose.js';
import { PacketSheet } from './packet.js';
import { Wallet } from './wallet.js';
import { PacketYears } from './packet-years.js';
import { RoomInfo } from './room-info.js';
import { Invite } from './invite.js';
import { PersonSheet } from './person.js';
import { MessageSheet } from './message-sheet.js';

export const sheets = {
  'new-room': { view: NewRoom, modal: true, title: () => t('newRoom.title') },
  find: { view: FindRooms, modal: true, title: () => t('find.title') },
  direct: { view: Direct, modal: true, title: () => t('direct.title') },
  settings: { view: Settings, modal: true, title: () => t('settings.title') },
  compose: { view: Compose, modal: true, needsRoom: true, title: () => t('compose.title') },
  packet: { view: PacketSheet, modal: isSealed, title: () => t('packet.title') }, // id: packet
  wallet: { view: Wallet, title: () => t('wallet.title') },
  packets: { view: PacketYears, title: () => t('years.title') },
  info: { view: RoomInfo, needsRoom: true, title: (room) => t(room.room.kind === 'direct' ? 'info.titleDirect' : 'info.title') },
  invite: { view: Invite, modal: true, needsRoom: true, title: () => t('invite.title') },
  person: { view: PersonSheet, title: () => t('person.title') }, // id: user
  message: { view: MessageSheet, modal: true, needsRoom: true, title: () => t('message.title') }, // id: seq
};
