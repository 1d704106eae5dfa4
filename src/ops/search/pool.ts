export class SearchPool {}
